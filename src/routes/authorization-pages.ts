import type { Unconfirmed } from '../connections/authorizations.ts';
import { type Reply, textReply } from '../http/reply.ts';

/** The pages that a browser shows during an authorization. They need no script and no other file. */

const HTML = 'text/html; charset=utf-8';

const HEADERS = {
  'cache-control': 'no-store',
  // A page of another site must not show the link below inside itself, and the address contains a proof.
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

export const page = (status: number, text: string): Reply => ({
  ...textReply(documentOf(`<p>${escaped(text)}</p>`), HTML, HEADERS),
  status,
});

/** Shows what an authorization server will be asked for. */
export const confirmationPage = ({ server, issuer, scopes }: Unconfirmed, next: string): Reply => {
  const asked =
    scopes.length === 0
      ? '<p>It names no scopes: the authorization server decides what they are.</p>'
      : `<p>These scopes are requested:</p><ul>${scopes.map((scope) => `<li>${escaped(scope)}</li>`).join('')}</ul>`;
  return textReply(
    documentOf(
      `<h1>Connect '${escaped(server)}'</h1><p>Your account at ${escaped(issuer)} is used by the calls of your runs.</p>${asked}<p><a href="${escaped(next)}">Continue</a></p>`,
    ),
    HTML,
    HEADERS,
  );
};

const documentOf = (body: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Connect an account</title><style>body{font:16px system-ui;max-width:40rem;margin:4rem auto;padding:0 1rem}</style>${body}</html>`;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? '');
