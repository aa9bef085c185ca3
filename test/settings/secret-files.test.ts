import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readEnvironment, takeEnvironment } from '../../src/commands/environment.ts';
import {
  loadSettings,
  SettingsError,
  secretVariables,
  settingsHelp,
  unknownVariables,
} from '../../src/settings/index.ts';

/** `<VARIABLE>_FILE`, with real files. */

const withEnvironment = (t: Test, env: Record<string, string>): void => {
  const before = process.env;
  process.env = { ...env };
  t.teardown(() => {
    process.env = before;
  });
};

const problemsOf = (t: Test, env: Record<string, string>): readonly string[] => {
  withEnvironment(t, env);
  try {
    readEnvironment();
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
};

t.test('every secret, and every key of a provider, can be in a file', async (t) => {
  const dir = t.testdir();
  const variables = [...secretVariables, 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY', 'OTEL_EXPORTER_OTLP_HEADERS'];
  for (const name of [
    'SERVICE_SECRETS_KEY',
    'SERVICE_ADMIN_API_BEARER_TOKEN',
    'SERVICE_IDENTITY_ISSUERS',
    'OPENAI_API_KEY',
  ])
    t.ok(variables.includes(name), name);
  const issuers = '[{"id":"acme","issuer":"https://login.acme.example","audiences":["a"]}]';
  const contents: Record<string, string> = {
    SERVICE_IDENTITY_ISSUERS: issuers,
    SERVICE_DATABASE_URL: 'postgresql://troupe:secret@localhost/troupe',
    SERVICE_CLUSTER_SECRET: 'x'.repeat(32),
  };
  const contentOf = (name: string): string => contents[name] ?? `value of ${name}`;
  for (const name of variables) writeFileSync(join(dir, name), `${contentOf(name)}\n`);
  const env = Object.fromEntries(variables.map((name) => [`${name}_FILE`, join(dir, name)]));
  withEnvironment(t, env);
  const read = readEnvironment();
  for (const name of variables) t.equal(read[name], contentOf(name));
  const settings = await loadSettings({ flags: {}, env: read, readFile: () => '' });
  t.equal(settings.secrets_key, 'value of SERVICE_SECRETS_KEY');
  t.equal(settings.AdminApiConfig.bearer_token, 'value of SERVICE_ADMIN_API_BEARER_TOKEN');
  t.equal(settings.a2a_remote_bearer_token, 'value of SERVICE_A2A_REMOTE_BEARER_TOKEN');
  t.match(settings.identity.issuers, [{ id: 'acme' }]);
  t.strictSame(unknownVariables(env), []);
  for (const name of secretVariables.filter((name) => name.startsWith('SERVICE_')))
    t.match(settingsHelp(), `${name}_FILE names a file that holds it`);
});

t.test('removes one newline from the end of a file and nothing else', async (t) => {
  const dir = t.testdir({ one: 'a b\n', two: 'x\n\n', windows: 'y\r\n', none: 'z' });
  const valueIn = (t: Test, name: string): string | undefined => {
    withEnvironment(t, { OPENAI_API_KEY_FILE: join(dir, name) });
    return readEnvironment().OPENAI_API_KEY;
  };
  t.equal(valueIn(t, 'one'), 'a b');
  t.equal(valueIn(t, 'two'), 'x\n');
  t.equal(valueIn(t, 'windows'), 'y');
  t.equal(valueIn(t, 'none'), 'z');
});

t.test('reports every file that cannot be a secret, without its content', async (t) => {
  const dir = t.testdir({
    empty: '\n',
    large: `hush-${'x'.repeat(70_000)}`,
    binary: Buffer.from([0xff, 0xfe, 0x00]),
    good: 'hush-good',
  });
  mkdirSync(join(dir, 'folder'));
  const path = (name: string): string => join(dir, name);
  const problems = problemsOf(t, {
    SERVICE_SECRETS_KEY_FILE: path('missing'),
    SERVICE_ADMIN_API_BEARER_TOKEN_FILE: path('empty'),
    OPENAI_API_KEY_FILE: path('folder'),
    ANTHROPIC_API_KEY_FILE: path('large'),
    GEMINI_API_KEY_FILE: path('binary'),
    A2A_BEARER_TOKEN: 'hush-given',
    A2A_BEARER_TOKEN_FILE: path('good'),
  });
  const of = (name: string): string | undefined => problems.find((problem) => problem.startsWith(name));
  t.equal(problems.length, 6);
  t.match(of('SERVICE_SECRETS_KEY_FILE'), /missing' cannot be read \(ENOENT.*\); allowed: a text file/);
  t.match(of('SERVICE_ADMIN_API_BEARER_TOKEN_FILE'), /empty' is empty; allowed/);
  t.match(of('OPENAI_API_KEY_FILE'), /it is a directory/);
  t.match(of('ANTHROPIC_API_KEY_FILE'), /is too large; allowed: a text file of at most 65536 bytes/);
  t.match(of('GEMINI_API_KEY_FILE'), /cannot be read/);
  t.match(
    of('A2A_BEARER_TOKEN'),
    'A2A_BEARER_TOKEN and A2A_BEARER_TOKEN_FILE are both set; allowed: one of them',
  );
  t.notMatch(problems.join(), 'hush');
  t.match(problemsOf(t, { OPENAI_API_KEY_FILE: '/dev/zero' }), [/is too large/]);
  t.strictSame(
    problemsOf(t, { OPENAI_API_KEY: 'k', OPENAI_API_KEY_FILE: ' ' }),
    [],
    'a blank name is ignored',
  );
});

t.test('removes secrets from the process after they are read', async (t) => {
  const env = {
    PATH: '/bin',
    SERVICE_SECRETS_KEY: 'k',
    SERVICE_ADMIN_API_BEARER_TOKEN: 't',
    A2A_BEARER_TOKEN: 'a',
    OPENAI_API_KEY: 'o',
    ANTHROPIC_API_KEY: 'c',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=h',
  };
  withEnvironment(t, env);
  t.strictSame(takeEnvironment({ keepShared: false }), env);
  t.strictSame(process.env, { PATH: '/bin' });
  withEnvironment(t, env);
  takeEnvironment({ keepShared: true });
  t.strictSame(Object.keys(process.env).sort(), [
    'ANTHROPIC_API_KEY',
    'OPENAI_API_KEY',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'PATH',
  ]);
});
