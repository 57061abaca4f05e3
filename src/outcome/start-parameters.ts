/** What the step was asked to run: the fields of the start request that the user gave. Absent ones are not sent. */
export interface StartParameters {
  readonly branch?: string
  readonly environment?: string
  readonly frameworkProject?: string
  readonly runGroup?: string
  readonly envOverrides?: Readonly<Record<string, string>>
  readonly autofix?: boolean
}

/** Which of the service's two workflows the run belongs to, by the id that its paths carry. */
export type Target =
  | { readonly kind: 'project'; readonly projectId: string }
  | { readonly kind: 'test-suite'; readonly testSuiteId: string }
