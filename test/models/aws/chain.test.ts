import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { findKeys } from '../../../src/models/aws/chain.ts';
import type { Environment } from '../../../src/models/provider-options.ts';
import { createTransport } from '../../../src/models/transport.ts';
import {
  CONTAINER_TOKEN,
  IMDS_TOKEN,
  REFRESH,
  SOURCE,
  startServices,
  USER_TOKEN,
  WEB_TOKEN,
} from './services.ts';

/** Every source of AWS keys, over real sockets and files. */

const TRANSPORT = createTransport();
const NOW = Date.parse('2026-01-01T00:00:00Z');
const ROLE = 'arn:aws:iam::1:role/app';

const SECRETS = [SOURCE.secret, WEB_TOKEN, IMDS_TOKEN, CONTAINER_TOKEN, USER_TOKEN, REFRESH.clientSecret];

const start = async (t: Test, longestMs?: number) => {
  const services = await startServices(t);
  const home = t.testdir({ '.aws': { sso: { cache: {} } } });
  const write = (name: string, content: string): string => {
    const path = join(home, name);
    writeFileSync(path, content);
    return path;
  };
  const find = (env: Environment = {}, profile?: string) =>
    findKeys(profile, {
      text: TRANSPORT.text,
      now: () => NOW,
      env: { PATH: process.env.PATH, HOME: home, ...services.env, ...env },
      region: 'us-east-1',
      ...(longestMs !== undefined && { longestMs }),
    });
  /** The message of a failing search, which must contain no secret. */
  const failure = async (env: Environment = {}, profile?: string): Promise<string> => {
    const error = await find(env, profile).then(
      () => new Error('keys were found'),
      (error: Error) => error,
    );
    t.notOk(
      SECRETS.find((secret) => String(error.stack).includes(secret)),
      'quotes no secret',
    );
    return error.message;
  };
  return { ...services, home, write, find, failure };
};

const ISSUED = { accessKeyId: /^ASIA/, secretAccessKey: /^secret-/, sessionToken: /^token-/ };
const EXPIRES = { expiresAt: Date.parse('2100-01-01T00:00:00Z') };
const STATIC = `aws_access_key_id = ${SOURCE.id}\naws_secret_access_key = ${SOURCE.secret}\n`;
const KEYS = { accessKeyId: SOURCE.id, secretAccessKey: SOURCE.secret, sessionToken: undefined };
const SHARED = { AWS_EC2_METADATA_DISABLED: 'true' };

t.test('prefers variables to every other source', async (t) => {
  const { find, write, requests } = await start(t);
  write('.aws/credentials', '[default]\naws_access_key_id = other\naws_secret_access_key = other\n');
  const env = { AWS_ACCESS_KEY_ID: SOURCE.id, AWS_SECRET_ACCESS_KEY: SOURCE.secret };
  t.strictSame(await find(env), KEYS);
  t.equal(requests.length, 0);
});

t.test('exchanges the token of a file for the keys of a role with web identity', async (t) => {
  const { find, failure, write, requests, home } = await start(t);
  const env = { AWS_WEB_IDENTITY_TOKEN_FILE: write('token', `${WEB_TOKEN}\n`), AWS_ROLE_ARN: ROLE };
  t.match(await find(env), { ...ISSUED, ...EXPIRES });
  t.equal(requests[0]?.headers.authorization, undefined);
  write('token', 'outdated');
  t.match(
    await failure(env),
    /AWS STS \(AssumeRoleWithWebIdentity of .*\(status 403, InvalidIdentityToken\)/,
  );
  t.match(await failure({ ...env, AWS_ROLE_ARN: '' }), /AWS_ROLE_ARN is not/);
  const missing = join(home, 'missing');
  t.match(
    await failure({ ...env, AWS_WEB_IDENTITY_TOKEN_FILE: missing }),
    /missing cannot be read \(ENOENT\)/,
  );
});

t.test('merges the credentials file into the configuration file', async (t) => {
  const { find, write } = await start(t);
  write(
    '.aws/config',
    '[profile work]\n# a comment\nregion = us-east-1 ; another\ns3 =\n  aws_access_key_id = no\n',
  );
  write('.aws/credentials', `[default]\n[ work ]\n${STATIC}`);
  t.strictSame(await find({ AWS_PROFILE: 'work' }), KEYS);
  t.strictSame(await find({}, 'work'), KEYS);
});

t.test('assumes a role with the keys of the source profile, across several profiles', async (t) => {
  const { find, failure, write, requests } = await start(t);
  write('.aws/credentials', `[base]\n${STATIC}`);
  write(
    '.aws/config',
    [
      `[profile app]\nrole_arn = ${ROLE}\nsource_profile = base\nexternal_id = x1\nrole_session_name = me\nduration_seconds = 900`,
      `[profile self]\nrole_arn = ${ROLE}\nsource_profile = self\n${STATIC}`,
      `[profile a]\nrole_arn = ${ROLE}\nsource_profile = b\n[profile b]\nrole_arn = ${ROLE}\nsource_profile = a`,
      `[profile no]\nrole_arn = arn:aws:iam::1:role/forbidden\nsource_profile = base`,
      `[profile code]\nrole_arn = ${ROLE}\nsource_profile = base\nmfa_serial = arn:aws:iam::1:mfa/me`,
      `[profile none]\nrole_arn = ${ROLE}`,
      `[profile odd]\nrole_arn = ${ROLE}\ncredential_source = Elsewhere`,
      `[profile lost]\nrole_arn = ${ROLE}\nsource_profile = missing`,
      `[profile host]\nrole_arn = ${ROLE}\ncredential_source = Environment`,
    ].join('\n'),
  );
  t.match(await find({}, 'app'), { ...ISSUED, ...EXPIRES });
  t.match(Object.fromEntries(new URLSearchParams(requests[0]?.body)), {
    RoleArn: ROLE,
    ExternalId: 'x1',
    RoleSessionName: 'me',
    DurationSeconds: '900',
  });
  t.match(await find({}, 'self'), ISSUED);
  t.match(await failure({}, 'a'), /the profiles a -> b -> a name each other/);
  t.match(await failure({}, 'no'), /AWS STS \(AssumeRole of .*forbidden\) .*\(status 403, AccessDenied\)/);
  t.match(await failure({}, 'code'), /has mfa_serial: a service cannot enter a code/);
  t.match(
    await failure({}, 'none'),
    /needs one of source_profile, credential_source, web_identity_token_file/,
  );
  t.match(await failure({}, 'odd'), /must be one of Environment, EcsContainer, Ec2InstanceMetadata/);
  t.match(await failure({}, 'lost'), /the source of profile 'lost': profile 'missing' is not in/);
  const env = { AWS_ACCESS_KEY_ID: SOURCE.id, AWS_SECRET_ACCESS_KEY: SOURCE.secret };
  t.match(await find(env, 'host'), ISSUED);
});

t.test('reads keys from a program that receives no secret of the service', async (t) => {
  const { find, failure, write, home } = await start(t);
  const script = write(
    'print.sh',
    `env > ${home}/seen\necho '{"Version":1,"AccessKeyId":"${SOURCE.id}","SecretAccessKey":"${SOURCE.secret}","Expiration":"2100-01-01T00:00:00Z"}'`,
  );
  write(
    '.aws/config',
    [
      `[default]\ncredential_process = sh "${script}"`,
      `[profile fails]\ncredential_process = echo ${SOURCE.secret} >&2; exit 3`,
      `[profile old]\ncredential_process = echo '{"Version":2}'`,
      `[profile part]\ncredential_process = echo '{"Version":1,"AccessKeyId":"${SOURCE.secret}"}'`,
    ].join('\n'),
  );
  const secret = { OPENAI_API_KEY: 'sk-openai', AWS_SECRET_ACCESS_KEY: 'alone', SERVICE_AUTH_TOKEN: 'admin' };
  t.strictSame(await find({ ...secret, AWS_REGION: 'eu-west-1' }), { ...KEYS, ...EXPIRES });
  const seen = readFileSync(join(home, 'seen'), 'utf8');
  t.match(seen, /^AWS_REGION=eu-west-1$/m);
  t.notMatch(seen, /sk-openai|alone|admin/);
  t.match(await failure({}, 'fails'), /credential_process of profile 'fails' ended with exit code 3$/);
  t.match(await failure({}, 'old'), /printed no JSON object with "Version": 1/);
  t.match(await failure({}, 'part'), /returned no keys of AWS: 'SecretAccessKey' is missing or malformed$/);
});

const signOn = (home: string, token: object): string => {
  // The file name is the SHA-1 of the session name.
  const path = join(home, '.aws/sso/cache/d033e22ae348aeb5660fc2140aec35850c4da997.json');
  mkdirSync(join(home, '.aws/sso/cache'), { recursive: true });
  writeFileSync(path, JSON.stringify(token), { mode: 0o600 });
  return path;
};

const SESSION = `[profile user]
sso_session = admin
sso_account_id = 123
sso_role_name = Reader
[sso-session admin]
sso_region = us-east-1
sso_start_url = https://example.awsapps.com/start
`;

t.test('uses the token of the user for single sign-on, and refreshes an expired one', async (t) => {
  const { find, failure, write, home, requests } = await start(t);
  write('.aws/config', SESSION);
  t.match(await failure({}, 'user'), /run aws sso login --profile user$/);
  signOn(home, { accessToken: USER_TOKEN, expiresAt: '2026-01-01T01:00:00Z' });
  t.match(await find({}, 'user'), { ...ISSUED, ...EXPIRES });
  signOn(home, { accessToken: USER_TOKEN, expiresAt: '2025-01-01T00:00:00Z' });
  t.match(await failure({}, 'user'), /run aws sso login --profile user$/);
  const path = signOn(home, {
    accessToken: 'old',
    expiresAt: '2025-01-01T00:00:00Z',
    region: 'r',
    ...REFRESH,
  });
  t.match(await find({}, 'user'), ISSUED);
  t.strictSame(JSON.parse(readFileSync(path, 'utf8')), {
    ...REFRESH,
    region: 'r',
    accessToken: USER_TOKEN,
    expiresAt: '2026-01-01T01:00:00.000Z',
    refreshToken: 'refresh-2',
  });
  t.equal(statSync(path).mode & 0o777, 0o600);
  t.equal(requests.filter(({ service }) => service === 'oidc').length, 1);
  signOn(home, { accessToken: 'revoked', expiresAt: '2026-01-01T01:00:00Z' });
  t.match(await failure({}, 'user'), /run aws sso login --profile user$/);
});

t.test('sends the container endpoint its token, which is read from the file each time', async (t) => {
  const { find, failure, write, url, failures } = await start(t);
  const file = write('token', CONTAINER_TOKEN);
  const env = {
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/container`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: 'outdated',
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file,
  };
  t.match(await find(env), { ...ISSUED, ...EXPIRES });
  write('token', 'another');
  t.match(
    await failure(env),
    /the container credentials endpoint 127.0.0.1:\d+ returned no keys \(status 401\)$/,
  );
  write('token', `two\r\nlines: ${CONTAINER_TOKEN}`);
  t.match(await failure(env), /must hold one line of ASCII text$/);
  write('token', CONTAINER_TOKEN);
  failures.set('container', { status: 200, body: `{"AccessKeyId": "${SOURCE.secret}"` });
  t.match(await failure(env), /returned no keys of AWS: it is no JSON object$/);
  failures.set('container', { status: 200, body: 'x'.repeat(2 ** 20) });
  t.match(await failure(env), /returned no keys of AWS: it is no JSON object$/);
});

const addresses: [address: string, isAllowed: boolean][] = [
  ['http://169.254.170.2/x', true],
  ['http://169.254.170.23/x', true],
  ['http://[fd00:ec2::23]/x', true],
  ['http://127.9.9.9/x', true],
  ['http://[::1]/x', true],
  ['https://credentials.example/x', true],
  ['http://credentials.example/x', false],
  ['http://10.0.0.1/x', false],
  ['http://127.0.0.1.example/x', false],
  ['http://169.254.170.2@evil.example/x', false],
  ['file:///etc/passwd', false],
  ['no address', false],
];
for (const [address, isAllowed] of addresses) {
  t.test(`${isAllowed ? 'requests' : 'rejects'} the container endpoint ${address}`, async (t) => {
    const requests: string[] = [];
    const error = await findKeys(undefined, {
      text: async ({ url }) => {
        requests.push(url);
        return { status: 418, headers: {}, body: '' };
      },
      now: () => NOW,
      env: { HOME: t.testdir({}), AWS_CONTAINER_CREDENTIALS_FULL_URI: address },
      region: 'us-east-1',
    }).catch((error: Error) => error);
    t.match(error, { message: isAllowed ? /status 418/ : /must be an http address of this host/ });
    t.strictSame(requests, isAllowed ? [address] : []);
  });
}

t.test('requests the metadata of the instance with a token, and without a proxy', async (t) => {
  const { find, failure, requests, failures, url } = await start(t);
  t.match(await find(), { ...ISSUED, ...EXPIRES });
  t.strictSame(
    requests.map(({ method, url }) => `${method} ${url}`),
    [
      'PUT /latest/api/token',
      'GET /latest/meta-data/iam/security-credentials/',
      'GET /latest/meta-data/iam/security-credentials/app-role',
    ],
  );
  const foreign = { AWS_EC2_METADATA_SERVICE_ENDPOINT: 'http://metadata.example' };
  t.match(await failure(foreign), /AWS_EC2_METADATA_SERVICE_ENDPOINT must be an http address of this host/);
  failures.set('imds', { status: 403, body: '' });
  t.match(await failure(), /instance metadata \(it granted no token, status 403\)/);
  const proxied = createTransport({ env: { HTTP_PROXY: url } });
  const text = (address: string) =>
    proxied.text({
      ...{ method: 'GET', url: address, headers: {}, most: 100 },
      signal: AbortSignal.timeout(300),
    });
  const before = requests.length;
  await text('http://169.254.169.254/').catch(() => {});
  await text('http://169.254.170.2/').catch(() => {});
  t.equal(requests.length, before);
  await proxied.close();
});

t.test('names every source and its missing setting, and no secret, in an error', async (t) => {
  const { failure, home } = await start(t);
  const message = await failure(SHARED);
  for (const part of [
    'variables (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not both set)',
    'web identity (AWS_WEB_IDENTITY_TOKEN_FILE is not set)',
    `profile (profile 'default' is not in ${home}/.aws/config and ${home}/.aws/credentials)`,
    'container (neither AWS_CONTAINER_CREDENTIALS_RELATIVE_URI nor AWS_CONTAINER_CREDENTIALS_FULL_URI is set)',
    'instance metadata (AWS_EC2_METADATA_DISABLED is true)',
  ])
    t.ok(message.includes(part), part);
  t.notOk(existsSync(join(home, '.aws/config')));
});

t.test('reports an outage of a service as a transient failure', async (t) => {
  const { find, failures, write } = await start(t);
  const env = { AWS_WEB_IDENTITY_TOKEN_FILE: write('token', WEB_TOKEN), AWS_ROLE_ARN: ROLE };
  for (const failure of [
    { status: 503, body: '' },
    { status: 400, body: '<Code>Throttling</Code>' },
  ]) {
    failures.set('sts', failure);
    t.match(await find(env).catch((error: Error) => error), { class: 'provider', transient: true });
  }
});

t.test(
  'ends a search at its deadline when a service does not respond or a program does not end',
  async (t) => {
    const { failure, failures, requests, write, url } = await start(t, 200);
    for (const service of ['container', 'imds', 'sts'] as const) failures.set(service, 'hangs');
    const container = { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/container` };
    t.match(await failure(container), /the container credentials endpoint 127.0.0.1:\d+: no answer in time$/);
    const web = { AWS_WEB_IDENTITY_TOKEN_FILE: write('token', WEB_TOKEN), AWS_ROLE_ARN: ROLE };
    t.match(await failure(web), /AWS STS: no answer in time$/);
    t.equal(requests.length, 2, 'each service is asked once');
    write('.aws/config', '[default]\ncredential_process = exec sleep 600\n');
    t.match(await failure(), /credential_process of profile 'default' did not end in time$/);
  },
);
