import { stripVTControlCharacters } from 'node:util';
import { framesIn, } from './report-writer.js';
/** `failedAttempts` are the last ones of tests that were tried again, by their keys. Jest's results have only the last attempt. */
export function describeResults(results, report, failedAttempts = new Map()) {
    const ordered = [...results.testResults].sort((a, b) => Number(a.testFilePath > b.testFilePath) - Number(a.testFilePath < b.testFilePath));
    const { snapshot, runExecError } = results;
    return {
        files: ordered.flatMap((file) => {
            if (!file.testExecError)
                return [];
            const failure = report.describeFailure([errorOfFile(file.testExecError)], placesOf);
            return { ...describeFile(file), hasFailed: true, failure };
        }),
        tests: ordered.flatMap((file) => file.testResults.map((test) => {
            return { ...describeTest(file, test), ...describeCase(test, report, failedAttempts.get(keyOf(file, test))) };
        })),
        errors: [
            ...(runExecError ? [report.describeFailure([errorOfFile(runExecError)], placesOf)] : []),
            ...(snapshot.failure ? [{ message: describeObsolete(snapshot) }] : []),
        ],
    };
}
/** What tells a test from the others of its project. The project is not in it, because Jest's events of a test do not have it. */
export function keyOf({ testFilePath }, { ancestorTitles, title }) {
    return JSON.stringify([testFilePath, ...ancestorTitles, title]);
}
export function describeFile({ displayName, testFilePath }) {
    return { project: displayName?.name ?? '', file: testFilePath };
}
export function describeTest(file, test) {
    const about = describeFile(file);
    const path = [...test.ancestorTitles, test.title];
    return { ...about, id: `${about.project} ${keyOf(file, test)}`, path, line: test.location?.line };
}
export function describeCase(test, report, failedAttempt) {
    const { status, duration, invocations = 1, retryReasons = [] } = test;
    const state = status === 'passed' || status === 'failed' ? status : 'skipped';
    const isFlaky = state === 'passed' && invocations > 1;
    const told = { failureMessages: retryReasons.slice(-1), failureDetails: [] };
    return {
        state,
        isFlaky,
        durationMs: duration ?? 0,
        failure: describeFailure(isFlaky ? (failedAttempt ?? told) : test, report),
    };
}
function describeFailure({ failureMessages, failureDetails = [] }, report) {
    return report.describeFailure(failureMessages.map((stack, index) => errorOfTest(stack, failureDetails[index])), placesOf);
}
/**
 * Jest 30 writes what caused an error into the text, as `Error: top`, `[cause]: Error: deep` and `[errors]: Error: one`, with an empty line
 * between them. In Jest 29, only the thrown error has it, and a worker process loses it.
 */
function errorOfTest(text, thrown) {
    const [stack = '', ...parts] = text.split(/\n\n\[(cause|errors)\]: /);
    const message = messageIn(stack);
    if (parts.length === 0)
        return { ...causesIn(thrown), message, stack };
    // A kind is in front of its text.
    const inner = (kind) => parts.flatMap((part, index) => (parts[index - 1] === kind ? errorOfTest(part, {}) : []));
    const causes = inner('cause');
    // If something else than an error was thrown, the cause says the same, and its stack has the place.
    if (causes[0]?.message === message)
        return { message, stack: `${stack}\n${String(causes[0].stack)}` };
    // The last one is the deepest.
    const cause = causes.reduceRight((deeper, one) => ({ ...one, cause: deeper }), undefined);
    return { message, stack, cause, errors: inner('errors') };
}
function causesIn(thrown) {
    const { cause, errors } = (typeof thrown === 'object' && thrown !== null ? thrown : {});
    return { cause, errors };
}
/** What Jest itself threw. Its errors about the configuration have a headline: `● Validation Error:`. */
export function describeThrown(thrown, report) {
    const { stack, message } = thrown instanceof Error ? thrown : { message: String(thrown) };
    const text = stripVTControlCharacters(stack || message);
    const error = { message: messageIn(text).replace(/^\s*● (.*:)\s*/, '$1 '), stack: text };
    return report.describeFailure([error], placesOf);
}
/** The stack may begin with advice about syntax that Jest does not know. The message has the error itself. */
function errorOfFile({ name, message, stack, cause, errors }) {
    if (message)
        return { name: name === 'Error' ? '' : name, message, stack, cause, errors };
    return { message: messageIn(String(stack)), stack, cause, errors };
}
function messageIn(stack) {
    const lines = stack.split('\n');
    const frame = lines.findIndex((line) => /^\s+at /.test(line));
    return lines
        .slice(0, frame === -1 ? undefined : frame)
        .join('\n')
        .replace(/^Error: /, '')
        .trimEnd();
}
/** Babel names the place in its message: `/shop/cart.test.js: Unexpected token (3:1)`. */
const PLACE_OF_PARSER = /^(\/.*): .*\((\d+):\d+\)$/m;
function placesOf({ message, stack }) {
    const [, file, line] = PLACE_OF_PARSER.exec(String(message)) ?? [];
    return [...(file === undefined ? [] : [{ file, line: Number(line) }]), ...framesIn(stack)];
}
/** Says it in Jest's own words. */
function describeObsolete({ unchecked, filesRemoved, uncheckedKeysByFile }) {
    const count = (number, noun) => number === 0 ? [] : [`${number} ${noun}${number === 1 ? '' : 's'} obsolete`];
    const names = uncheckedKeysByFile.flatMap(({ keys }) => keys);
    const listed = names.length === 0 ? '' : `: ${names.join(', ')}`;
    return `${[...count(unchecked, 'snapshot'), ...count(filesRemoved, 'snapshot file')].join(', ')}${listed}`;
}
