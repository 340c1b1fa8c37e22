// SPDX-License-Identifier: MIT
// Streamable HTTP in front of a stdio server, for the conformance suite, which speaks only HTTP.
//
// What belongs to HTTP (sessions, status codes, headers, origins) happens here; every JSON-RPC
// message is the server's own. Modern requests (2026-07-28) share one server process, as they are
// free of state; each legacy session has a process of its own.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';

const META = 'io.modelcontextprotocol/';
const VERSION_KEY = `${META}protocolVersion`;
const SUBSCRIPTION_KEY = `${META}subscriptionId`;

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const HEADER_MISMATCH = -32020;
const MISSING_CAPABILITY = -32021;
const UNSUPPORTED_VERSION = -32022;
const INTERNAL_ERROR = -32603;

// The member of `params` that the header Mcp-Name must repeat.
const NAMED_BY = {
    'tools/call': 'name',
    'prompts/get': 'name',
    'resources/read': 'uri',
    'tasks/get': 'taskId',
    'tasks/update': 'taskId',
    'tasks/cancel': 'taskId',
};

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isRequest = (message) => message.method !== undefined && message.id !== undefined;

// ---- the answer to one POST ---------------------------------------------------------------------

// The HTTP head waits for the server's first message: a response makes it plain JSON with a status
// that fits, anything earlier makes it an event stream that ends with the response.
class Answer {
    #response;
    #headers;
    #statusOf;

    constructor(response, headers, statusOf) {
        this.#response = response;
        this.#headers = headers;
        this.#statusOf = statusOf;
    }

    event(message) {
        if (!this.#response.headersSent)
            this.#response.writeHead(200, { 'content-type': 'text/event-stream', ...this.#headers });
        this.#response.write(sseEvent(message));
    }

    end(message) {
        if (this.#response.headersSent) {
            this.#response.end(sseEvent(message));
            return;
        }
        sendJson(this.#response, this.#statusOf(message), message, this.#headers);
    }
}

function sseEvent(message) {
    return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}

function sendJson(response, status, body, headers = {}) {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body === undefined ? '' : JSON.stringify(body));
}

function sendError(response, status, code, message, id) {
    sendJson(response, status, { jsonrpc: '2.0', id, error: { code, message } });
}

const legacyStatus = () => 200;

// -32602 is a fault of the HTTP request only when `_meta` is at fault, which only its text tells.
function modernStatus({ error }) {
    switch (error?.code) {
    case METHOD_NOT_FOUND:
        return 404;
    case HEADER_MISMATCH:
    case MISSING_CAPABILITY:
    case UNSUPPORTED_VERSION:
        return 400;
    case INVALID_PARAMS:
        return error.message.includes('_meta') ? 400 : 200;
    default:
        return 200;
    }
}

function goneError(id) {
    return { jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: 'the server has ended' } };
}

// ---- one process of the server ------------------------------------------------------------------

class StdioServer {
    #process;
    #pending = new Map(); // the id on the pipe -> { id, token, answer, mayAsk }, oldest first
    #listeners = new Set(); // open GET streams
    #lastId = 0;
    #rest = '';
    #ended = false;

    constructor([command, ...args]) {
        this.#process = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
        this.#process.stdin.on('error', () => {}); // it has ended, which 'close' tells
        this.#process.stdout.setEncoding('utf8').on('data', (chunk) => this.#feed(chunk));
        this.#process.on('close', () => this.#end());
    }

    send(message) {
        this.#process.stdin.write(`${JSON.stringify(message)}\n`);
    }

    // Passes a client's notification or response on.
    forward(message) {
        if (message.method === 'notifications/cancelled')
            this.#cancelByClientId(message);
        else
            this.send(message);
    }

    // Sends a request under an id, and a progress token, that are unique on the pipe: independent
    // HTTP clients use the same ones. Returns the function that cancels it.
    request(message, answer) {
        if (this.#ended) {
            answer.end(goneError(message.id));
            return () => {};
        }
        const id = ++this.#lastId;
        const token = message.params?._meta?.progressToken;
        const copy = structuredClone({ ...message, id });
        if (token !== undefined)
            copy.params._meta.progressToken = id;
        const mayAsk = ['tools/call', 'prompts/get'].includes(message.method);
        this.#pending.set(id, { id: message.id, token, answer, mayAsk });
        this.send(copy);
        return () => this.#cancel(id);
    }

    listen(response) {
        this.#listeners.add(response);
        response.on('close', () => this.#listeners.delete(response));
    }

    // Ends its input. Gives the exit status, or the signal when it has to be killed after `graceMs`.
    async close(graceMs) {
        const { exitCode, signalCode } = this.#process;
        if (exitCode !== null || signalCode !== null)
            return signalCode ?? exitCode;
        const exit = once(this.#process, 'exit');
        const timer = setTimeout(() => this.#process.kill('SIGKILL'), graceMs);
        this.#process.stdin.end();
        const [status, signal] = await exit;
        clearTimeout(timer);
        return signal ?? status;
    }

    // Whoever still waits would wait for the suite's time limit.
    #end() {
        this.#ended = true;
        for (const { id, answer } of this.#pending.values())
            answer.end(goneError(id));
        this.#pending.clear();
    }

    #cancel(id) {
        if (this.#pending.delete(id))
            this.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
    }

    #cancelByClientId(message) {
        for (const [id, entry] of this.#pending)
            if (entry.id === message.params?.requestId)
                this.#cancel(id);
    }

    #feed(chunk) {
        const lines = (this.#rest + chunk).split('\n');
        this.#rest = lines.pop();
        lines.forEach((line) => this.#receive(JSON.parse(line)));
    }

    #receive(message) {
        if (message.method === undefined)
            this.#receiveResponse(message);
        else
            this.#route(message);
    }

    #receiveResponse(message) {
        const entry = this.#pending.get(message.id);
        if (!entry)
            return; // cancelled meanwhile
        this.#pending.delete(message.id);
        message.id = entry.id;
        const meta = message.result?._meta;
        if (meta && SUBSCRIPTION_KEY in meta)
            meta[SUBSCRIPTION_KEY] = entry.id;
        entry.answer.end(message);
    }

    // A notification, or a request of the server's own, goes to the stream it belongs to.
    #route(message) {
        const entry = this.#streamOf(message);
        if (entry) {
            entry.answer.event(message);
            return;
        }
        for (const response of this.#listeners)
            response.write(sseEvent(message));
    }

    #streamOf(message) {
        const meta = message.params?._meta;
        if (meta && SUBSCRIPTION_KEY in meta) {
            const entry = this.#pending.get(meta[SUBSCRIPTION_KEY]);
            if (entry)
                meta[SUBSCRIPTION_KEY] = entry.id;
            return entry;
        }
        if (message.method === 'notifications/progress') {
            const entry = this.#pending.get(message.params.progressToken);
            if (entry)
                message.params.progressToken = entry.token;
            return entry;
        }
        if (message.method === 'notifications/message' || message.id !== undefined)
            return [...this.#pending.values()].findLast((entry) => entry.mayAsk);
        return undefined;
    }
}

// ---- the HTTP side ------------------------------------------------------------------------------

function isLocal(header) {
    return header === undefined ||
        /^(https?:\/\/)?(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(header);
}

function isModern(message, headers) {
    const meta = message.params?._meta;
    const version = headers['mcp-protocol-version'];
    return (isObject(meta) && VERSION_KEY in meta) || (version !== undefined && version >= '2026') ||
        message.method === 'server/discover';
}

// Mcp-Name may be written =?base64?...?= when it is not plain ASCII.
function decodeHeader(value) {
    const encoded = /^=\?base64\?(.*)\?=$/i.exec(value?.trim() ?? '');
    return encoded ? Buffer.from(encoded[1], 'base64').toString('utf8') : value?.trim();
}

// Names the header of a modern request that does not say the same as its body, if there is one.
function mismatchedHeader({ method, params }, headers) {
    const version = params?._meta?.[VERSION_KEY];
    if (version !== undefined && headers['mcp-protocol-version'] !== version)
        return 'MCP-Protocol-Version';
    if (headers['mcp-method']?.trim() !== method)
        return 'Mcp-Method';
    const named = NAMED_BY[method];
    if (named && decodeHeader(headers['mcp-name']) !== params?.[named])
        return 'Mcp-Name';
    return null;
}

async function readBody(request) {
    const chunks = [];
    for await (const chunk of request)
        chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
}

class Bridge {
    #command;
    #modern = null;
    #sessions = new Map(); // Mcp-Session-Id -> StdioServer
    #servers = [];

    constructor(command) {
        this.#command = command;
    }

    async handle(request, response) {
        if (!isLocal(request.headers.host) || !isLocal(request.headers.origin))
            sendError(response, 403, INVALID_REQUEST, 'Host or Origin is not local');
        else if (request.method === 'POST')
            await this.#post(request, response);
        else
            this.#useSession(request, response);
    }

    // Ends every process. Gives the exit statuses of those that did not end well by themselves.
    async close(graceMs = 100_000) {
        const statuses = await Promise.all(this.#servers.map((server) => server.close(graceMs)));
        return statuses.filter((status) => status !== 0);
    }

    #start() {
        const server = new StdioServer(this.#command);
        this.#servers.push(server);
        return server;
    }

    // GET opens the stream of what belongs to no request, DELETE ends the session.
    #useSession(request, response) {
        const id = request.headers['mcp-session-id'];
        const server = this.#sessions.get(id);
        if (id !== undefined && !server) {
            sendError(response, 404, INVALID_REQUEST, 'no such session');
        } else if (!server || !['GET', 'DELETE'].includes(request.method)) {
            sendJson(response, 405);
        } else if (request.method === 'GET') {
            response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
            server.listen(response);
        } else {
            this.#sessions.delete(id);
            server.close(5000);
            sendJson(response, 200);
        }
    }

    async #post(request, response) {
        const body = await readBody(request);
        let message;
        try {
            message = JSON.parse(body);
        } catch {
            sendError(response, 400, PARSE_ERROR, 'not JSON');
            return;
        }
        if (!isObject(message))
            sendError(response, 400, INVALID_REQUEST, 'not a single message');
        else if (isModern(message, request.headers))
            this.#postModern(message, request.headers, response);
        else
            this.#postLegacy(message, request.headers['mcp-session-id'], response);
    }

    #postModern(message, headers, response) {
        this.#modern ??= this.#start();
        if (!isRequest(message)) {
            this.#modern.forward(message);
            sendJson(response, 202);
            return;
        }
        const header = mismatchedHeader(message, headers);
        if (header) {
            sendError(response, 400, HEADER_MISMATCH, `${header} differs from the body`, message.id);
            return;
        }
        const cancel = this.#modern.request(message, new Answer(response, {}, modernStatus));
        response.on('close', cancel); // does nothing once the request is answered
    }

    #postLegacy(message, sessionId, response) {
        if (message.method === 'initialize') {
            const id = randomUUID();
            this.#sessions.set(id, this.#start());
            this.#requestLegacy(message, id, response, { 'mcp-session-id': id });
        } else if (!this.#sessions.has(sessionId)) {
            const known = sessionId !== undefined;
            sendError(response, known ? 404 : 400, INVALID_REQUEST,
                known ? 'no such session' : 'Mcp-Session-Id is missing', message.id);
        } else if (isRequest(message)) {
            this.#requestLegacy(message, sessionId, response, {});
        } else {
            this.#sessions.get(sessionId).forward(message);
            sendJson(response, 202);
        }
    }

    // A legacy client that hangs up has not cancelled.
    #requestLegacy(message, sessionId, response, headers) {
        this.#sessions.get(sessionId).request(message, new Answer(response, headers, legacyStatus));
    }
}

// Listens on a free port of 127.0.0.1 in front of `command`, an argv. Gives { url, close }.
export async function startBridge(command) {
    const bridge = new Bridge(command);
    const listener = http.createServer((request, response) => bridge.handle(request, response));
    await once(listener.listen(0, '127.0.0.1'), 'listening');
    return {
        url: `http://127.0.0.1:${listener.address().port}/mcp`,
        async close() {
            listener.close();
            listener.closeAllConnections();
            return bridge.close();
        },
    };
}
