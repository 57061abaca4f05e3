// Reporters use this file in the project's own Node, so it must run on Node 18.
// local-service/test/frameworks/report.test.ts tests this file.
const LINE_LIMIT_CHARS = 60;
const LEFT_OUT = /\n\[(\d+) characters left out\]\n/;
/** If a text is too long, its middle is left out, and a line says how much that is. */
export function cutMessage(text, limitChars) {
    if (text.length <= limitChars)
        return text;
    const half = Math.floor((limitChars - LINE_LIMIT_CHARS) / 2);
    // A cut must not divide a character.
    const beginning = text.slice(0, half).replace(/[\uD800-\uDBFF]$/, '');
    const end = text.slice(-half).replace(/^[\uDC00-\uDFFF]/, '');
    const middle = text.slice(beginning.length, text.length - end.length);
    // The text may have been cut before.
    const [line = '', count = '0'] = LEFT_OUT.exec(middle) ?? [];
    const leftOut = middle.length - line.length + Number(count);
    return `${beginning}\n[${leftOut} characters left out]\n${end}`;
}
