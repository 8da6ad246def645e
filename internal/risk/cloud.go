package risk

import (
	"slices"
	"strings"
)

const (
	infra     = "changes real infrastructure, which may begin to cost"
	destroyed = "destroys infrastructure and what is stored in it"
	cluster   = "changes what runs in a cluster"
	deployed  = "puts a new version where people use it"
	gone      = "deletes resources of a cloud account"
	begun     = "starts resources of a cloud account, which cost"
)

// Rows about infrastructure, clusters, containers and clouds.
var cloudRules = []rule{
	{verdict{"terraform-destroy", Deletion, Dangerous, destroyed}, "terraform tofu terragrunt", "destroy", "", "", nil},
	{verdict{"terraform-destroy", Deletion, Dangerous, destroyed}, "terraform tofu terragrunt", "apply", "-destroy", "", nil},
	{verdict{"terraform-destroy", Deletion, Dangerous, destroyed}, "terragrunt", "run-all destroy", "", "", nil},
	{verdict{"terraform-apply", Spending, Critical, infra}, "terraform tofu terragrunt", "apply|import", "", "", nil},
	{verdict{"terraform-apply", Spending, Critical, infra}, "terragrunt", "run-all apply", "", "", nil},
	{verdict{"terraform-state", Deletion, Critical, "changes what is known of the infrastructure"}, "terraform tofu terragrunt", "state rm|mv|push|replace-provider", "", "", nil},
	{verdict{"terraform-state", Deletion, Critical, "changes what is known of the infrastructure"}, "terraform tofu terragrunt", "taint|untaint|force-unlock", "", "", nil},
	{verdict{"terraform-state", Deletion, Critical, "changes what is known of the infrastructure"}, "terraform tofu", "workspace delete", "", "", nil},
	{verdict{"pulumi-destroy", Deletion, Dangerous, destroyed}, "pulumi", "destroy|down", "", "", nil},
	{verdict{"pulumi-destroy", Deletion, Dangerous, destroyed}, "pulumi", "stack rm", "", "", nil},
	{verdict{"pulumi-up", Spending, Critical, infra}, "pulumi", "up|update|import|refresh", "", "", nil},
	{verdict{"stack-destroy", Deletion, Dangerous, destroyed}, "cdk cdktf sst", "destroy|remove", "", "", nil},
	{verdict{"stack-deploy", Spending, Critical, infra}, "cdk cdktf sst", "deploy", "", "", nil},
	{verdict{"vm-destroy", Deletion, Critical, "destroys a virtual machine"}, "vagrant virsh", "destroy|undefine|vol-delete", "", "", nil},
	{verdict{"vm-destroy", Deletion, Critical, "destroys a virtual machine"}, "multipass lxc incus", "delete|purge", "", "", nil},
	{verdict{"packer-build", Spending, Moderate, "builds images in a cloud account, which costs"}, "packer", "build", "", "", nil},
	{verdict{"ansible", Push, Critical, "changes other machines"}, "ansible-playbook", "", "", "-C --check --syntax-check --list-hosts --list-tasks --list-tags", nil},
	{verdict{"ansible", Push, Critical, "changes other machines"}, "ansible", "", "-m --module-name -a --args", "-C --check --list-hosts", ansibleActs},
	{verdict{"ansible", Push, Critical, "changes other machines"}, "salt puppet chef-client knife", "", "", "--noop --test --why-run -W", nil},

	{verdict{"kubectl-delete", Deletion, Dangerous, "deletes all resources of a kind, or a whole namespace"}, "kubectl oc", "delete", "--all -A --all-namespaces", "", nil},
	{verdict{"kubectl-delete", Deletion, Dangerous, "deletes all resources of a kind, or a whole namespace"}, "kubectl oc", "delete namespace|namespaces|ns|pvc|pv|crd|project", "", "", nil},
	{verdict{"kubectl-delete", Deletion, Critical, "deletes resources of a cluster"}, "kubectl oc", "delete", "", "", nil},
	{verdict{"kubectl-drain", Outage, Critical, "moves everything off a machine of the cluster"}, "kubectl oc", "drain|cordon|taint", "", "", nil},
	{verdict{"kubectl-apply", Push, Critical, cluster}, "kubectl oc", "apply|replace|patch|edit|scale|autoscale|set|create|run|expose", "", "", nil},
	{verdict{"kubectl-apply", Push, Critical, cluster}, "kubectl oc", "rollout restart|undo|pause|resume", "", "", nil},
	{verdict{"helm-uninstall", Deletion, Critical, "removes what runs in a cluster"}, "helm", "uninstall|delete|del|un", "", "", nil},
	{verdict{"helm-upgrade", Push, Critical, cluster}, "helm helmfile", "upgrade|install|rollback|apply|sync", "", "", nil},
	{verdict{"helm-uninstall", Deletion, Critical, "removes what runs in a cluster"}, "helmfile", "destroy|delete", "", "", nil},
	{verdict{"cluster-delete", Deletion, Dangerous, "deletes a whole cluster"}, "eksctl kind k3d minikube kops", "delete", "", "", nil},
	{verdict{"gitops-sync", Push, Critical, cluster}, "argocd flux", "app|reconcile|delete|suspend sync|delete|set|rollback|kustomization|helmrelease|source", "", "", nil},
	{verdict{"job-run", Push, Critical, cluster}, "nomad", "job|run|stop|system", "", "", func(c call) bool {
		return c.verb(0) != "job" || slices.Contains([]string{"run", "stop", "dispatch", "scale", "revert", "promote"}, c.verb(1))
	}},

	{verdict{"docker-prune", Deletion, Critical, "deletes containers, images or volumes that nothing uses now"}, "docker podman nerdctl", "system|volume|image|container|builder|network prune", "", "", nil},
	{verdict{"docker-volume", Deletion, Critical, "deletes a volume and the data in it"}, "docker podman nerdctl", "volume rm|remove", "", "", nil},
	{verdict{"docker-volume", Deletion, Critical, "deletes a volume and the data in it"}, "docker podman nerdctl", "compose down|rm", "-v --volumes", "", nil},
	{verdict{"docker-volume", Deletion, Critical, "deletes a volume and the data in it"}, "docker-compose", "down|rm", "-v --volumes", "", nil},
	{verdict{"docker-down", Outage, Moderate, "stops the services of a project"}, "docker podman nerdctl", "compose down|stop|kill|rm", "", "", nil},
	{verdict{"docker-down", Outage, Moderate, "stops the services of a project"}, "docker-compose", "down|stop|kill|rm", "", "", nil},
	{verdict{"docker-rm", Deletion, Critical, "stops and deletes containers with what they hold"}, "docker podman nerdctl", "rm", "-f --force -v --volumes", "", nil},
	{verdict{"docker-rm", Deletion, Critical, "stops and deletes containers with what they hold"}, "docker podman nerdctl", "container rm", "-f --force -v --volumes", "", nil},
	{verdict{"docker-remove", Deletion, Moderate, "deletes containers or images"}, "docker podman nerdctl", "rm|rmi", "", "", nil},
	{verdict{"docker-remove", Deletion, Moderate, "deletes containers or images"}, "docker podman nerdctl", "image|container|network rm", "", "", nil},
	{verdict{"docker-push", Push, Critical, "publishes an image"}, "docker podman nerdctl", "push", "", "", nil},
	{verdict{"docker-push", Push, Critical, "publishes an image"}, "docker podman nerdctl", "image|manifest|compose push", "", "", nil},
	{verdict{"docker-push", Push, Critical, "publishes an image"}, "docker podman nerdctl buildctl", "", "--push", "", nil},
	{verdict{"docker-stack", Push, Critical, deployed}, "docker", "stack|service deploy|rm|update|create|scale|rollback", "", "", nil},
	{verdict{"docker-privileged", Privilege, Critical, "gives a container all rights over this machine"}, "docker podman nerdctl", "run|create", "--privileged", "", nil},
	{verdict{"docker-stop", Outage, Moderate, "stops containers"}, "docker podman nerdctl", "stop|kill", "", "", nil},
	{verdict{"docker-push", Push, Critical, "publishes an image"}, "skopeo crane oras buildah regctl", "copy|cp|push|sync|attach|image", "", "", nil},

	{verdict{"aws-s3-delete", Deletion, Critical, "deletes objects of a store"}, "aws", "s3 rm|rb", "", "", nil},
	{verdict{"aws-s3-delete", Deletion, Critical, "deletes objects of a store"}, "aws", "s3 sync|mv", "--delete", "", nil},
	{verdict{"aws-s3-public", Exposure, Critical, "shows stored objects to everyone"}, "aws", "s3|s3api *", "--acl", "", isPublicACL},
	{verdict{"aws-run", Spending, Critical, begun}, "aws", "ec2 run-instances|start-instances|request-spot-instances|purchase-reserved-instances-offering|allocate-hosts", "", "", nil},
	{verdict{"aws-send", Push, Critical, "sends a message that cannot be called back"}, "aws", "ses|sesv2|sns|pinpoint send-email|send-raw-email|send-templated-email|publish|send-messages", "", "", nil},
	{verdict{"aws-iam", Privilege, Critical, "changes who may do what in a cloud account"}, "aws", "iam *", "", "", anyPrefix(1, "create- put- attach- add- update- delete- detach- remove-")},
	{verdict{"aws-delete", Deletion, Critical, gone}, "aws", "* *", "", "", anyPrefix(1, "delete terminate- remove- purge- destroy- deregister- batch-delete schedule-key-deletion empty-")},
	{verdict{"aws-change", Spending, Critical, begun}, "aws", "* *", "", "", anyPrefix(1, "create- run- start- update- modify- deploy put-bucket put-item stop- reboot- purchase- restore- invoke")},
	{verdict{"gcloud-delete", Deletion, Critical, gone}, "gcloud", "", "", "", anyOperand("delete destroy purge remove-iam-policy-binding")},
	{verdict{"gcloud-change", Spending, Critical, begun}, "gcloud", "", "", "", anyOperand("create deploy add-iam-policy-binding update start resize submit")},
	{verdict{"az-delete", Deletion, Critical, gone}, "az", "", "", "", anyOperand("delete purge delete-batch deallocate")},
	{verdict{"az-change", Spending, Critical, begun}, "az", "", "", "", anyOperand("create update start deploy up up-scale")},
	{verdict{"cloud-delete", Deletion, Critical, gone}, "doctl hcloud linode-cli scw oci ibmcloud vultr-cli openstack civo exo", "", "", "", anyOperand("delete rm remove destroy terminate")},
	{verdict{"cloud-change", Spending, Critical, begun}, "doctl hcloud linode-cli scw oci ibmcloud vultr-cli openstack civo exo", "", "", "", anyOperand("create launch rebuild resize")},
	{verdict{"store-delete", Deletion, Critical, "deletes objects of a store"}, "gsutil s3cmd mc s5cmd b2", "rm|rb|del|delete-bucket|delete-file-version|rsync", "", "-n", func(c call) bool {
		return c.verb(0) != "rsync" || c.flag("-d")
	}},
	{verdict{"bq-delete", Deletion, Critical, "deletes tables or data sets"}, "bq", "rm", "", "", nil},
	{verdict{"secret-delete", Deletion, Critical, "deletes secrets or settings that other programs read"}, "vault consul etcdctl", "delete|destroy|del", "", "", nil},
	{verdict{"secret-delete", Deletion, Critical, "deletes secrets or settings that other programs read"}, "vault consul", "kv|secrets delete|destroy|disable|metadata", "", "", nil},

	{verdict{"app-destroy", Deletion, Dangerous, "deletes an application with its data"}, "fly flyctl", "apps|volumes|machine destroy|delete|remove", "", "", nil},
	{verdict{"app-destroy", Deletion, Dangerous, "deletes an application with its data"}, "heroku", "apps:destroy|pg:reset|addons:destroy|apps:delete", "", "", nil},
	{verdict{"app-destroy", Deletion, Dangerous, "deletes an application with its data"}, "serverless sls sam cf vercel netlify wrangler railway", "remove|rm|delete|sites:delete|down", "", "", nil},
	{verdict{"deploy", Push, Critical, deployed}, "fly flyctl serverless sls sam cf firebase wrangler railway eb gcloud kamal cap copilot amplify waypoint dokku ship", "deploy|push|up|publish", "", "", nil},
	{verdict{"deploy", Push, Critical, deployed}, "netlify vercel", "", "--prod --production", "", nil},
	{verdict{"deploy", Push, Critical, deployed}, "heroku", "container:release|pipelines:promote|releases:rollback|ps:scale", "", "", nil},
}

// ansibleActs leaves out the modules that only look.
func ansibleActs(c call) bool {
	for _, m := range c.values("-m", "--module-name") {
		if slices.Contains([]string{"ping", "setup", "debug", "stat"}, m.text) {
			return false
		}
	}
	return true
}

func isPublicACL(c call) bool {
	return slices.ContainsFunc(c.values("--acl"), func(w word) bool { return strings.HasPrefix(w.text, "public") })
}
