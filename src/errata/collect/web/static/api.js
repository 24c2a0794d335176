// Calls to the server. Addresses are relative to the page, so that it may stand under any path.

let token = "", base = "api/v1/";

export function connect(given, root = "") { token = given; base = `${root}api/v1/`; }

/** An answer that is no success: `status` 0 means that the server was not reached. */
export class Refused extends Error {
  constructor(status, body) {
    super(body?.error?.message ?? `status ${status}`);
    this.status = status;
    this.body = body;
    this.code = body?.error?.code ?? "";
  }

  /** Whether the same call may succeed later. */
  get passing() { return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500; }
}

const PATIENCE = 20000; // milliseconds until a call counts as lost

export async function call(method, path, body = undefined, {keepalive = false} = {}) {
  const headers = {Authorization: `Bearer ${token}`};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(base + path, {
      method, headers, keepalive, body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(PATIENCE),
    });
  } catch { throw new Refused(0, null); }
  let found = null;
  try { found = await answer.json(); } catch { if (answer.ok) throw new Refused(0, null); }
  if (!answer.ok) throw new Refused(answer.status, found);
  return {status: answer.status, body: found};
}
