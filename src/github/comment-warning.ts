import { type LogLine, logLine } from '../report/safe-text.ts'
import type { CommentFailure, CommentOutcome } from './pull-request-comment.ts'

/** What to add to the workflow so that the comment can be written. */
const PERMISSIONS_ADVICE = logLine`Add \`permissions: { contents: read, pull-requests: write }\` to the job, beside what else it needs; pull requests by Dependabot need it too. On a pull request from a fork GitHub lets the workflow only read, whatever \`permissions\` says: set \`comment: never\` there.`

/** The one warning about a comment that should be there and is not; undefined where there is nothing to say. */
export function commentWarning(outcome: CommentOutcome): LogLine | undefined {
  switch (outcome.kind) {
    case 'written':
    case 'not-needed':
    case 'no-pull-request':
    case 'newer-exists':
      return undefined
    case 'not-allowed': {
      const { status, message } = outcome
      const said =
        status === undefined ? logLine`${message}` : logLine`GitHub answered with status ${status}: ${message}`
      return logLine`The token may not write the pull request comment (${said}). ${PERMISSIONS_ADVICE}`
    }
    case 'failed':
      return failureWarning(outcome.failure)
  }
}

/** Why there is rightly no comment of this run, for whoever looks for it; undefined where there is nothing to explain. */
export function commentRemark(outcome: CommentOutcome): LogLine | undefined {
  switch (outcome.kind) {
    case 'no-pull-request':
      return logLine`No comment was written, for this workflow run is not about a pull request.`
    case 'newer-exists':
      return logLine`The comment was left as it is, for a later run has written it.`
    default:
      return undefined
  }
}

function failureWarning(failure: CommentFailure): LogLine | undefined {
  switch (failure.kind) {
    case 'aborted':
      return undefined
    case 'no-response':
      return logLine`The pull request comment was not written: GitHub's API could not be reached (${failure.reason}). The next run writes it.`
    case 'rate-limited': {
      const seconds = Math.ceil(failure.retryAfterMs / 1000)
      return logLine`The pull request comment was not written: GitHub's API limits the rate for longer than the half minute that this step waits (it asks for another ${seconds} s). The next run writes it; with many jobs, comment from one of them only.`
    }
    case 'status': {
      const advice = failure.status === 401 ? logLine` Check \`github-token\`: it is wrong or has expired.` : logLine``
      return logLine`The pull request comment was not written: GitHub answered with status ${failure.status} (${failure.message}).${advice}`
    }
    case 'unexpected':
      return logLine`The pull request comment was not written: ${failure.reason}.`
  }
}
