import type { Request } from './exchange.ts'

// The requests of the interface.

/** A run, and the path of its project's runs. */
export interface RunAddress {
  readonly id: string
  readonly path: string
}

export function runsPath(project: string): string {
  return `/v1/projects/${encodeURIComponent(project)}/runs`
}

export function startOf(path: string, body: object | string | Buffer): Request {
  const sent = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  return { endpoint: 'start', method: 'POST', path, body: sent }
}

export function readOf({ id, path }: RunAddress): Request {
  return { endpoint: 'read', method: 'GET', path: `${path}/${encodeURIComponent(id)}`, runId: id }
}

export function cancelOf({ id, path }: RunAddress): Request {
  const body = JSON.stringify({ where: { runId: id } })
  return { endpoint: 'cancel', method: 'POST', path: `${path}/cancel`, body, runId: id }
}

export function cancelWithoutWhere(path: string): Request {
  return { endpoint: 'cancel', method: 'POST', path: `${path}/cancel`, body: '{}' }
}

export function suiteStartOf(suite: string): Request {
  const path = `/v1/testSuite/${encodeURIComponent(suite)}/run`
  return { endpoint: 'suite-start', method: 'POST', path, body: '{}' }
}

export function suiteStatusOf(id: string): Request {
  return { endpoint: 'suite-status', method: 'GET', path: `${suiteRunPath(id)}/status`, runId: id }
}

export function suiteResultOf(id: string): Request {
  return { endpoint: 'suite-result', method: 'GET', path: `${suiteRunPath(id)}/result`, runId: id }
}

function suiteRunPath(id: string): string {
  return `/v1/testSuiteRun/${encodeURIComponent(id)}`
}
