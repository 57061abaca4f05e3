import { appendFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { cutMessage } from './message.js';
// The service's reporters in Vitest and in Playwright Test write the same report with this file. It runs in the project's own
// Node, so it must bring no packages and must run on Node 18. Each event is written at once, as a line of JSON. If a run is
// killed, the lines show how far it came.
export const REPORT_FILE = 'LOCAL_SERVICE_REPORT_FILE';
/** Of each message. The service removes the colours and cuts what is left. */
const WRITTEN_CHARS = 20_000;
/** A report with many long messages could be too large to be read. From this size on, further messages are short. */
const WHOLE_MESSAGES_CHARS = 64 * 1024 * 1024;
const SHORT_MESSAGE_CHARS = 500;
export class ReportWriter {
    #file = process.env[REPORT_FILE];
    #writtenChars = 0;
    /** The ids of the tests that have started, and of the tests that have finished. */
    #started = new Set();
    #finished = new Set();
    write(event) {
        const isLarge = this.#writtenChars > WHOLE_MESSAGES_CHARS;
        const line = isLarge ? JSON.stringify(event, withShortMessages) : JSON.stringify(event);
        this.#writtenChars += line.length;
        if (this.#file !== undefined)
            appendFileSync(this.#file, `${line}\n`);
    }
    startTest(test) {
        this.#started.add(test.id);
        this.write({ event: 'test-started', test, atMs: Date.now() });
    }
    finishTest(test, result, isTriedAgain) {
        this.#finished.add(test.id);
        const about = this.#started.has(test.id) ? { id: test.id } : test;
        this.write({ event: 'test-finished', test: { ...about, ...result }, isTriedAgain });
    }
    /** Call this when the number of all tests is known. */
    announceTotal(total) {
        this.write({ event: 'total', total });
    }
    hasFinished(id) {
        return this.#finished.has(id);
    }
}
function withShortMessages(key, value) {
    return key === 'message' && typeof value === 'string' ? cutMessage(value, SHORT_MESSAGE_CHARS) : value;
}
/** Describes one or more errors by the texts of all and by the place of the first that has one. Undefined without an error. */
export function describeFailure(errors, describe, framesOf) {
    if (errors.length === 0)
        return undefined;
    const place = errors.flatMap(framesOf).find(isInProject);
    return { message: cutMessage(errors.map(describe).join('\n\n'), WRITTEN_CHARS), file: place?.file, line: place?.line };
}
/** The frameworks run in the project's folder. */
export function isInProject({ file }) {
    return file.startsWith(`${process.cwd()}/`) && !file.includes('/node_modules/');
}
/** The text of what caused an error, on lines of its own. */
export function describeCause({ cause }) {
    if (typeof cause !== 'object' || cause === null || !('message' in cause))
        return '';
    return `\nCaused by: ${nameAndMessage(cause)}`;
}
/** `TypeError: x is not a function`, as Node prints it. */
export function nameAndMessage({ name, message, value }) {
    const text = typeof message === 'string' ? message : String(value ?? '');
    // Vitest names some causes "Caused by: Error".
    const isName = typeof name === 'string' && /^\w+$/.test(name);
    return isName && !text.startsWith(`${name}:`) ? `${name}: ${text}` : text;
}
/** The frames in a stack as Node writes it. */
export function framesIn(stack) {
    if (typeof stack !== 'string')
        return [];
    return stack.split('\n').flatMap((text) => {
        const [, path, line] = /^\s+at (?:async )?(?:.*\()?((?:file:\/\/)?\/.*?):(\d+):\d+\)?$/.exec(text) ?? [];
        return path === undefined ? [] : { file: toPath(path), line: Number(line) };
    });
}
function toPath(path) {
    try {
        return path.startsWith('file:') ? fileURLToPath(path) : path;
    }
    catch {
        // It is no URL of a file, for example because of a broken escape.
        return path;
    }
}
