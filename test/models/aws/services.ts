import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import type { SeenRequest } from '../sse-server.ts';
import { signatureOf } from './signature.ts';

/**
 * The AWS services that issue keys, behind one address. Each rejects the same requests as the real one: those without
 * the required token, signature or fields. A service with a configured failure returns that instead.
 */

export type Service = 'sts' | 'sso' | 'oidc' | 'container' | 'imds';

type Seen = SeenRequest & { method: string; service: Service | undefined };

type Reply = { status: number; body: string };

export const SOURCE = { id: 'AKIASOURCE', secret: 'source-secret' };
export const CONTAINER_TOKEN = 'container-token';
export const WEB_TOKEN = 'web.identity.token';
export const IMDS_TOKEN = 'imds-token==';
export const USER_TOKEN = 'user-token';
export const REFRESH = { clientId: 'client', clientSecret: 'client-secret', refreshToken: 'refresh-1' };

export type Issued = { id: string; secret: string; token: string; expires: string };

const json = (status: number, body: object): Reply => ({ status, body: JSON.stringify(body) });

const xmlError = (code: string, message: string): Reply => ({
  status: 403,
  body: `<ErrorResponse><Error><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
});

const sts = (request: Seen, { id, secret, token, expires }: Issued): Reply => {
  const form = new URLSearchParams(request.body);
  const action = form.get('Action');
  if (request.method !== 'POST' || form.get('Version') !== '2011-06-15') return xmlError('InvalidAction', '');
  if (!/^[\w+=,.@-]{2,64}$/.test(form.get('RoleSessionName') ?? '')) return xmlError('ValidationError', '');
  const isSigned =
    request.headers.authorization ===
    signatureOf(request, { ...SOURCE, region: 'us-east-1', service: 'sts' });
  if (action === 'AssumeRole' && !isSigned) return xmlError('SignatureDoesNotMatch', SOURCE.secret);
  if (action === 'AssumeRoleWithWebIdentity' && form.get('WebIdentityToken') !== WEB_TOKEN) {
    return xmlError('InvalidIdentityToken', WEB_TOKEN);
  }
  if (form.get('RoleArn') === 'arn:aws:iam::1:role/forbidden') return xmlError('AccessDenied', SOURCE.secret);
  return {
    status: 200,
    body: `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${action}Result><Credentials>
      <AccessKeyId>${id}</AccessKeyId><SecretAccessKey>${secret}</SecretAccessKey>
      <SessionToken>${token}</SessionToken><Expiration>${expires}</Expiration>
    </Credentials></${action}Result></${action}Response>`,
  };
};

const sso = ({ url, headers }: Seen, { id, secret, token, expires }: Issued): Reply => {
  if (headers['x-amz-sso_bearer_token'] !== USER_TOKEN) return json(401, { message: 'Session not found' });
  const { searchParams } = new URL(url, 'http://sso');
  if (searchParams.get('account_id') !== '123' || searchParams.get('role_name') !== 'Reader') {
    return json(403, { message: 'ForbiddenException' });
  }
  const keys = {
    accessKeyId: id,
    secretAccessKey: secret,
    sessionToken: token,
    expiration: Date.parse(expires),
  };
  return json(200, { roleCredentials: keys });
};

const oidc = ({ body }: Seen): Reply => {
  const { grantType, ...given } = JSON.parse(body);
  const isRight =
    grantType === 'refresh_token' &&
    JSON.stringify(Object.entries(given).sort()) === JSON.stringify(Object.entries(REFRESH).sort());
  if (!isRight) return json(400, { error: 'invalid_grant' });
  return json(200, { accessToken: USER_TOKEN, expiresIn: 3600, refreshToken: 'refresh-2' });
};

const document = ({ id, secret, token, expires }: Issued) => ({
  AccessKeyId: id,
  SecretAccessKey: secret,
  Token: token,
  Expiration: expires,
});

const container = ({ headers }: Seen, issued: Issued): Reply =>
  headers.authorization === CONTAINER_TOKEN
    ? json(200, document(issued))
    : json(401, { Message: 'no token' });

const imds = ({ method, url, headers }: Seen, issued: Issued): Reply => {
  const isToken = url === '/latest/api/token';
  if (isToken) {
    const seconds = Number(headers['x-aws-ec2-metadata-token-ttl-seconds']);
    if (method !== 'PUT' || !(seconds >= 1 && seconds <= 21_600)) return { status: 400, body: '' };
    return { status: 200, body: IMDS_TOKEN };
  }
  if (headers['x-aws-ec2-metadata-token'] !== IMDS_TOKEN) return { status: 401, body: '' };
  const role = url.slice('/latest/meta-data/iam/security-credentials/'.length);
  if (role === '') return { status: 200, body: 'app-role\n' };
  return role === 'app-role'
    ? json(200, { Code: 'Success', Type: 'AWS-HMAC', ...document(issued) })
    : { status: 404, body: '' };
};

const PLACES: Readonly<Record<Service, { path: RegExp; reply(request: Seen, issued: Issued): Reply }>> = {
  sts: { path: /^\/sts\/$/, reply: sts },
  sso: { path: /^\/sso\/federation\/credentials\?/, reply: sso },
  oidc: { path: /^\/oidc\/token$/, reply: oidc },
  container: { path: /^\/container$/, reply: container },
  imds: { path: /^\/latest\//, reply: imds },
};

const isService = (name: string): name is Service => name in PLACES;

export const startServices = async (t: Test) => {
  const requests: Seen[] = [];
  const failures = new Map<Service, Reply | 'hangs'>();
  const state = { issued: 0, expires: '2100-01-01T00:00:00Z' };
  const server = createServer(async (incoming, response) => {
    const { method = '', url = '', headers } = incoming;
    const service = Object.keys(PLACES)
      .filter(isService)
      .find((name) => PLACES[name].path.test(url));
    let body = '';
    for await (const chunk of incoming) body += chunk;
    const seen: Seen = { method, url, headers, body, service };
    requests.push(seen);
    const failure = service && failures.get(service);
    if (failure === 'hangs') return;
    if (!service) {
      response.writeHead(404).end();
      return;
    }
    state.issued += 1;
    const issued = {
      ...{ id: `ASIA${state.issued}`, secret: `secret-${state.issued}`, token: `token-${state.issued}` },
      expires: state.expires,
    };
    const reply = failure ?? PLACES[service].reply(seen, issued);
    response.writeHead(reply.status).end(reply.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  // A server that listens on a port has an address of this shape.
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const env = {
    AWS_ENDPOINT_URL_STS: `${url}/sts/`,
    AWS_ENDPOINT_URL_SSO: `${url}/sso`,
    AWS_ENDPOINT_URL_SSO_OIDC: `${url}/oidc`,
    AWS_EC2_METADATA_SERVICE_ENDPOINT: url,
  };
  return { url, env, requests, failures, state };
};
