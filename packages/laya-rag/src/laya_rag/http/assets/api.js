// Requests to the API of the same origin.

import { forgetToken, token } from "./storage.js";

/** A request that was refused or failed: what the problem document says (RFC 9457). */
export class Problem extends Error {
  constructor(status, document, requestId, retryAfter) {
    super(document.detail || document.title || String(status));
    this.status = status;
    this.title = document.title ?? "";
    this.detail = document.detail ?? "";
    this.code = document.code ?? "";
    this.errors = document.errors ?? [];
    this.requestId = document.request_id ?? requestId ?? "";
    /** Seconds, or null. */
    this.retryAfter = document.retry_after ?? retryAfter;
  }
}

/** No answer at all: the server is gone, or the network. */
export class UnreachableError extends Error {}

// Asks for a token; resolves to whether there is one now.
let askForToken = async () => false;
let asking = null;

export function onUnauthorized(ask) {
  askForToken = ask;
}

export function get(path, params = [], signal = undefined) {
  const query = new URLSearchParams(params.filter(([, value]) => value !== null)).toString();
  return json(query ? `${path}?${query}` : path, { signal });
}

export function post(path, body, signal = undefined) {
  return json(path, written(body, signal));
}

/** The objects of a stream, one a line, as they arrive. */
export async function* stream(path, body, signal) {
  const response = await send(path, written(body, signal, "application/x-ndjson"));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await read(reader, signal);
      const lines = (rest + (value ?? "")).split("\n");
      rest = done ? "" : lines.pop();
      for (const line of lines) {
        if (line.trim()) yield JSON.parse(line);
      }
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function read(reader, signal) {
  try {
    return await reader.read();
  } catch (error) {
    if (signal.aborted) throw error;
    throw new UnreachableError(String(error));
  }
}

function written(body, signal, accept = "application/json") {
  return {
    method: "POST",
    signal,
    headers: { "content-type": "application/json", accept },
    body: JSON.stringify(body),
  };
}

async function json(path, options) {
  const response = await send(path, options);
  return response.json();
}

async function send(path, options) {
  for (;;) {
    const used = token();
    const response = await once(path, options, used);
    if (response.ok) return response;
    const problem = await problemOf(response);
    // Someone else may have given a token while this was on its way.
    if (problem.status !== 401 || (token() === used && !(await tokenGiven(used)))) throw problem;
  }
}

function tokenGiven(refused) {
  if (refused !== null) forgetToken();
  asking ??= askForToken(refused !== null).finally(() => {
    asking = null;
  });
  return asking;
}

async function once(path, options, used) {
  const headers = used === null ? {} : { authorization: `Bearer ${used}` };
  try {
    return await fetch(path, { ...options, headers: { ...options.headers, ...headers } });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new UnreachableError(String(error));
  }
}

async function problemOf(response) {
  const type = response.headers.get("content-type") ?? "";
  const document = /\bjson\b/.test(type) ? await response.json().catch(() => ({})) : {};
  const after = Number.parseFloat(response.headers.get("retry-after") ?? "");
  const id = response.headers.get("x-request-id");
  return new Problem(response.status, document, id, Number.isFinite(after) ? after : null);
}
