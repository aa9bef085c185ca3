import { lookup } from 'node:dns/promises';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readOutline } from '../../.build/manual-pages.ts';
import { CERTIFICATE, tlsFiles } from '../certificate.ts';
import { freePort } from '../ports.ts';
import { ROOT } from '../run/places.ts';
import { startOpenIdProvider } from '../service/openid-provider.ts';
import { MAIN } from './built.ts';
import { runShell } from './service.ts';

/** Follows the page "On a network" from its text alone, with a real OpenID provider, HTTPS and two users. */

const PAGE = readFileSync(join(ROOT, 'src/docs/guides/on-a-network.md'), 'utf8');

const CONFIG = "export default { settings: { seed: { profile: 'demo' } } };\n";

type Answer = { status: number; headers: IncomingHttpHeaders; text: string };

/** A browser that trusts the certificate and keeps cookies. */
const openBrowser = (origin: string) => {
  const cookies = new Map<string, string>();
  const call = (method: string, path: string, body?: string): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const sent = request(new URL(path, origin), {
        method,
        ca: CERTIFICATE,
        headers: { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
      });
      sent.on('error', reject);
      sent.on('response', (response) => {
        for (const line of response.headers['set-cookie'] ?? []) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          cookies.set(name, value);
        }
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
      });
      sent.end(body);
    });
  return { call };
};

/** The code blocks of the page in one language, with the addresses of this test. */
const blocksFor = (replaced: readonly (readonly [string, string])[]) => {
  const all = readOutline(PAGE).code.map(({ language, text }) => ({
    language,
    text: replaced.reduce((whole, [from, to]) => whole.replaceAll(from, to), text),
  }));
  return (language: string): string[] =>
    all.filter((block) => block.language === language).map(({ text }) => text);
};

const follow = async (t: Test) => {
  const port = await freePort();
  const origin = `https://localhost:${port}`;
  const provider = await startOpenIdProvider(t, [`${origin}/v1/session/callback/acme`]);
  const blocks = blocksFor([
    ['https://agents.example', origin],
    ['https://login.acme.example', provider.issuer],
    ['0.0.0.0:443', `127.0.0.1:${port}`],
    ['the secret of the client', 'secret'],
  ]);
  const dir = t.testdir();
  const { cert_file, key_file } = tlsFiles(t);
  copyFileSync(cert_file, join(dir, 'cert.pem'));
  copyFileSync(key_file, join(dir, 'key.pem'));
  writeFileSync(join(dir, 'issuers.json'), blocks('json')[0] ?? '');
  writeFileSync(join(dir, 'troupe.config.mjs'), CONFIG);
  const [start = '', ...later] = blocks('sh');
  const lines = start.replace('troupe.config.ts', 'troupe.config.mjs').trim().split('\n');
  const variables = lines
    .slice(0, -1)
    .join('\n')
    .replace(/\$\(.*\)/, 'a-token-that-both-terminals-have');
  // The package is not installed here, and the certificate is trusted by nothing else.
  const preamble = `npx() { shift; '${process.execPath}' '${MAIN}' "$@"; }
export CURL_CA_BUNDLE="$PWD/cert.pem" NODE_EXTRA_CA_CERTS="$PWD/cert.pem" SERVICE_STORAGE_DIR="$PWD/data"
${variables}
`;
  const inTerminal = (text: string) => runShell(t, preamble + text, dir);
  return { origin, provider, blocks, later, inTerminal, serve: lines.at(-1) ?? '', dir };
};

const isResolved = await lookup('localhost').then(
  () => true,
  () => false,
);
const skip = isResolved ? false : 'this system does not resolve localhost, the name in the certificate';

t.test(
  'a team reaches the service with HTTPS, and two users sign in',
  { skip, timeout: 120_000 },
  async (t) => {
    const { origin, provider, blocks, later, inTerminal, serve } = await follow(t);
    const [check = '', list = '', approve = '', key = '', disable = ''] = later;
    t.equal(later.length, 5, 'each block of the page is followed');
    const service = inTerminal(serve);
    await service.says(/Troupe listens on https:\/\/\S+/);
    const print = async (text: string): Promise<string> => {
      const command = inTerminal(text);
      t.equal(await command.ended(), 0, command.errors());
      return command.output();
    };
    const checked = await print(check);
    t.match(checked, /"status":"healthy"/);
    t.match(checked, /\{"error":"authentication required"/);

    const signIn = async (id: string) => {
      const browser = openBrowser(origin);
      provider.account.id = id;
      const { sign_in } = JSON.parse((await browser.call('GET', '/v1/identity')).text);
      t.match(sign_in, [{ kind: 'oidc', label: 'Acme' }]);
      const begun = await browser.call('GET', sign_in[0].url);
      const callback = await provider.signIn(begun.headers.location ?? '');
      t.match(await browser.call('GET', callback), { status: 303, headers: { location: '/' } });
      t.match(JSON.parse((await browser.call('GET', '/v1/identity')).text), { user: id });
      return browser;
    };
    const [alice, bob] = [await signIn('alice'), await signIn('bob')];
    t.match(await print(list), /^alice\b[\s\S]*^bob\b/m);

    const input = { agentId: 'default', threadId: 'plans', messages: [{ role: 'user', content: 'Hi' }] };
    t.match(await alice.call('POST', '/v1/runs', JSON.stringify(input)), { status: 200, text: /run_finish/ });
    t.equal((await bob.call('GET', '/v1/threads/plans')).status, 404, 'threads are private');
    await print(approve);
    t.equal((await bob.call('GET', '/v1/threads/plans')).status, 200, 'an approver reads them');
    const write = { ...input, messages: [{ role: 'user', content: 'Me too' }] };
    t.equal((await bob.call('POST', '/v1/threads/plans/messages', JSON.stringify(write))).status, 403);
    const [, method = '', path = '', body = ''] = /^(\w+) (\S+)\n(.*)/.exec(blocks('http')[0] ?? '') ?? [];
    t.equal((await alice.call(method, path.replace('<id>', 'plans'), body)).status, 200);
    t.equal((await bob.call('POST', '/v1/threads/plans/messages', JSON.stringify(write))).status, 202);
    t.match(await print(key), /"items":\["plans"\]/, 'the program reads what is shared');
    await print(disable);
    t.equal((await bob.call('GET', '/v1/threads')).status, 401);
    t.equal((await alice.call('GET', '/v1/threads')).status, 200);
  },
);
