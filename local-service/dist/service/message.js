// Reporters use this file in the project's own Node, so it must run on Node 18.
const LEFT_OUT = '\n[the middle is left out]\n';
/** If a text is too long, its middle is left out, and a line says so. */
export function cutMessage(text, limitChars) {
    if (text.length <= limitChars)
        return text;
    const half = Math.floor((limitChars - LEFT_OUT.length) / 2);
    // A cut must not divide a character.
    const beginning = text.slice(0, half).replace(/[\uD800-\uDBFF]$/, '');
    const end = text.slice(-half).replace(/^[\uDC00-\uDFFF]/, '');
    return `${beginning}${LEFT_OUT}${end}`;
}
