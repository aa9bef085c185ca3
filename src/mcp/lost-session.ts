/**
 * Returns whether a refusal means that the server does not recognize the session. The protocol defines 404; frameworks
 * and proxies also respond with 410, and restarted servers with 400, 401 or 500 and a sentence about the session.
 *
 * A status is sufficient without such a sentence only if the server cannot have executed the request: 404 and 410.
 * Every other status requires a sentence that names the session, because the request is sent once more. A bare 5xx is a
 * failure of the request: the connection is reopened if such failures repeat.
 */
export const meansLostSession = (status: number, text: string): boolean =>
  GONE.has(status) || (status >= 400 && SENTENCES.some((sentence) => sentence.test(text)));

const GONE: ReadonlySet<number> = new Set([404, 410]);

const SENTENCES: readonly RegExp[] = [
  /\b(?:no valid|invalid|unknown|missing|expired|no such|bad|stale|unrecogni[sz]ed)\s+(?:mcp[\s-]?)?session\b/i,
  /\bsession(?:[\s_-]?id)?\b[^.\n]{0,40}\b(?:not (?:be )?found|unknown|invalid|not valid|expired|does not exist|doesn't exist|terminated|closed|is gone|required|not recogni[sz]ed|missing)\b/i,
  /\bserver (?:is )?not (?:yet |been )?initiali[sz]ed\b/i,
];
