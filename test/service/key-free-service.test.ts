import { describe, expect, it } from 'vitest'
import type { Failure } from '../../src/outcome/failure.ts'
import { untrusted } from '../../src/outcome/untrusted.ts'
import { keyRedaction } from '../../src/outcome/without-key.ts'
import { keyFree } from '../../src/service/key-free-service.ts'
import type { TestService } from '../../src/service/test-service.ts'
import { aRun, aTestCase } from '../support/builders.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { answer, FakeService, failure, type Script } from '../support/fake-service.ts'
import { failureOf, patient } from '../support/service-requests.ts'

const KEY = 'sk_live_0123456789'

async function asked<Answer>(script: Script, ask: (service: TestService) => Promise<Answer>): Promise<Answer> {
  const clock = new FakeClock()
  return clock.run(ask(keyFree(new FakeService(clock, script), keyRedaction(KEY))))
}

describe('a service from which the key is kept away', () => {
  it('tells the run without it, and leaves the id as the service needs it', async () => {
    const run = aRun({ branchName: KEY, testCases: [aTestCase({ title: `uses ${KEY}` })] })
    const told = await asked({ get: [answer(run)] }, (service) => service.get('run-1', patient()))
    expect(told).toMatchObject({ branchName: '***', testCases: [{ title: 'uses ***' }] })
    expect(await asked({ start: [answer(KEY)] }, (service) => service.start({}, patient()))).toBe(KEY)
  })

  const broken: Failure = { kind: 'invalid-response', expected: 'JSON', got: untrusted(`<p>${KEY}</p>`) }

  it.each<[string, Script, (service: TestService) => Promise<unknown>]>([
    ['start', { start: [failure(broken)] }, (service) => service.start({}, patient())],
    ['get', { get: [failure(broken)] }, (service) => service.get('run-1', patient())],
    ['cancel', { cancel: [failure(broken)] }, async (service) => service.cancel?.('run-1', patient())],
  ])('fails without it: %s', async (_, script, ask) => {
    expect(await failureOf(asked(script, ask))).toEqual({ ...broken, got: '<p>***</p>' })
  })

  it('has a cancel only where the workflow has one', () => {
    const clock = new FakeClock()
    expect(keyFree(new FakeService(clock, {}), keyRedaction(KEY)).cancel).toBeUndefined()
    expect(keyFree(new FakeService(clock, { cancel: [] }), keyRedaction(KEY)).cancel).toBeDefined()
  })
})
