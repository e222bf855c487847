// Writes the replies that openapi.yaml shows anew, as a running sizer gives them: node .ci/npm/examples.mjs URL
// A reply's example answers its x-request, or the request's example of the same name. Only the lines of `value` change.
import { readFileSync, writeFileSync } from 'node:fs';
import yaml from 'js-yaml';

const file = new URL('../../openapi.yaml', import.meta.url);
const base = process.argv[2];
const WIDTH = 110;

if (!base) {
    console.error('usage: node .ci/npm/examples.mjs http://127.0.0.1:8080');
    process.exit(2);
}

// JSON, which YAML is too: what fits in a line stands in one.
function text(value, indent) {
    const line = JSON.stringify(value, null, 1).replace(/\n */g, ' ');
    if (typeof value !== 'object' || value === null || indent + line.length <= WIDTH)
        return line;
    const inner = ' '.repeat(indent + 2);
    const parts = Array.isArray(value)
        ? value.map((item) => inner + text(item, indent + 2))
        : Object.entries(value).map(([name, item]) => `${inner}${JSON.stringify(name)}: ${text(item, indent + 2)}`);
    const [open, close] = Array.isArray(value) ? '[]' : '{}';
    return `${open}\n${parts.join(',\n')}\n${' '.repeat(indent)}${close}`;
}

async function ask({ method = 'GET', path, headers = [], body, body_bytes }) {
    const sent = { 'X-Request-Id': 'example-0001' };
    if (body_bytes)
        body = ' '.repeat(body_bytes);
    if (body !== undefined)
        sent['Content-Type'] = 'application/json';
    for (const header of headers)
        sent[header.slice(0, header.indexOf(':'))] = header.slice(header.indexOf(':') + 1).trim();
    const reply = await fetch(new URL(path, base), { method, headers: sent, body });
    return reply.json();
}

const escape = (part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

// The line on which the member of a path stands, found by its indentation, and that of the line after its value.
function lines_of(lines, path) {
    let at = -1;
    let indent = -2;
    for (const part of path) {
        indent += 2;
        const wanted = new RegExp(`^ {${indent}}(?:'${escape(part)}'|${escape(part)}):`);
        for (at++; !wanted.test(lines[at]); at++)
            if (at >= lines.length || (lines[at].trim() && lines[at].search(/\S/) < indent))
                throw new Error(`${path.join(' ')}: not found`);
    }
    let end = at + 1;
    while (end < lines.length && (!lines[end].trim() || lines[end].search(/\S/) > indent || /^[\]}]/.test(lines[end].trim())))
        end++;
    return { at, end, indent };
}

async function renew(lines, path, request) {
    const { at, end, indent } = lines_of(lines, [...path, 'value']);
    const value = text(await ask(request), indent);
    lines.splice(at, end - at, ...`${' '.repeat(indent)}value: ${value}`.split('\n'));
}

const document = yaml.load(readFileSync(file, 'utf8'), { schema: yaml.JSON_SCHEMA });
const lines = readFileSync(file, 'utf8').split('\n');

async function renew_content(content, path, asked = {}) {
    for (const [media, { examples = {} }] of Object.entries(content ?? {}))
        for (const [name, example] of Object.entries(examples)) {
            const request = example['x-request'] ?? asked[name];
            if (request)
                await renew(lines, [...path, media, 'examples', name], request);
        }
}

for (const [path, item] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(item)) {
        const bodies = operation.requestBody?.content?.['application/json']?.examples ?? {};
        const asked = Object.fromEntries(Object.entries(bodies).map(([name, { value }]) =>
            [name, { method: method.toUpperCase(), path, body: JSON.stringify(value) }]));
        for (const [status, reply] of Object.entries(operation.responses))
            await renew_content(reply.content, ['paths', path, method, 'responses', status, 'content'], asked);
    }
for (const [name, reply] of Object.entries(document.components.responses))
    await renew_content(reply.content, ['components', 'responses', name, 'content']);
writeFileSync(file, lines.join('\n'));
