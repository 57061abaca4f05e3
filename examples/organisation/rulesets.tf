# The rulesets of docs/organisation.md for Terraform. The map "gates" has the repositories whose gate is not on trial.
terraform {
  required_providers {
    github = {
      source  = "integrations/github"
      version = "~> 6.13"
    }
  }
}

provider "github" {
  owner = "octo-org"
}

locals {
  gates = {
    "web-shop"  = "enforced"
    "workflows" = "none"
  }
}

data "github_repository" "workflows" {
  name = "workflows"
}

data "github_team" "gate_keepers" {
  slug = "gate-keepers"
}

resource "github_organization_custom_properties" "gate" {
  property_name      = "test-gate"
  value_type         = "single_select"
  allowed_values     = ["trial", "enforced", "none"]
  required           = true
  default_value      = "trial"
  values_editable_by = "org_actors"
}

resource "github_repository_custom_property" "gate" {
  for_each       = local.gates
  repository     = each.key
  property_name  = github_organization_custom_properties.gate.property_name
  property_type  = "single_select"
  property_value = [each.value]
}

resource "github_organization_ruleset" "gate" {
  for_each    = { trial = "evaluate", enforced = "active" }
  name        = each.key == "trial" ? "Tests must pass (trial)" : "Tests must pass"
  target      = "branch"
  enforcement = each.value

  bypass_actors {
    actor_id    = data.github_team.gate_keepers.id
    actor_type  = "Team"
    bypass_mode = "pull_request"
  }

  conditions {
    ref_name {
      include = ["~DEFAULT_BRANCH"]
      exclude = []
    }
    repository_property {
      include {
        name            = github_organization_custom_properties.gate.property_name
        property_values = [each.key]
        source          = "custom"
      }
    }
  }

  rules {
    required_workflows {
      do_not_enforce_on_create = true
      required_workflow {
        repository_id = data.github_repository.workflows.repo_id
        path          = ".github/workflows/organisation.yml"
        ref           = "refs/heads/main"
      }
    }
  }
}

# For private and internal repositories: only one team changes workflows.
resource "github_organization_ruleset" "workflows" {
  name        = "Only one team changes workflows"
  target      = "push"
  enforcement = "active"

  bypass_actors {
    actor_id    = data.github_team.gate_keepers.id
    actor_type  = "Team"
    bypass_mode = "always"
  }

  conditions {
    repository_name {
      include = ["~ALL"]
      exclude = []
    }
  }

  rules {
    file_path_restriction {
      restricted_file_paths = [".github/**/*"]
    }
  }
}
