import { readFile } from 'node:fs/promises';
import { jsonOrUndefined } from '../../schema/json-or-undefined.ts';
import { codeOf } from './files.ts';
import { type Found, readKeys, type Search, unusable } from './keys.ts';
import { checkLocal } from './local-address.ts';
import { ask, refusal } from './request.ts';

/** Reads the keys of a container's role from the endpoint that ECS, EKS Pod Identity or a local agent provides. */

const RELATIVE = 'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI';
const FULL = 'AWS_CONTAINER_CREDENTIALS_FULL_URI';
const TOKEN = 'AWS_CONTAINER_AUTHORIZATION_TOKEN';
const ECS = 'http://169.254.170.2';

export const keysOfContainer = async (search: Search): Promise<Found> => {
  const url = endpointIn(search);
  if (!url) return { absent: `neither ${RELATIVE} nor ${FULL} is set` };
  const by = `the container credentials endpoint ${url.host}`;
  const token = await tokenIn(search);
  const headers: Record<string, string> = token === undefined ? {} : { authorization: token };
  const { status, body } = await ask(search, { method: 'GET', url: url.href, headers }, by);
  if (status !== 200) throw refusal(by, status, undefined);
  return readKeys(jsonOrUndefined(body), by);
};

const endpointIn = ({ env }: Search): URL | undefined => {
  const relative = env[RELATIVE]?.trim();
  if (relative) {
    if (!relative.startsWith('/')) throw unusable(`${RELATIVE} must be a path that begins with /`);
    return checkLocal(`${ECS}${relative}`, RELATIVE);
  }
  const full = env[FULL]?.trim();
  if (!full) return undefined;
  // The certificate of an https address proves which host it is.
  return URL.canParse(full) && new URL(full).protocol === 'https:' ? new URL(full) : checkLocal(full, FULL);
};

/** The file is read for each request, because EKS replaces the token in it. */
const tokenIn = async ({ env }: Search): Promise<string | undefined> => {
  const file = env[`${TOKEN}_FILE`]?.trim();
  const token = file
    ? await readFile(file, 'utf8').catch((error: unknown) => {
        throw unusable(`the file ${file} of ${TOKEN}_FILE cannot be read (${codeOf(error)})`);
      })
    : env[TOKEN];
  const sent = token?.trim();
  if (!sent) return undefined;
  if (/^[\x20-\x7e]+$/.test(sent)) return sent;
  throw unusable(`${file ? `the file ${file} of ${TOKEN}_FILE` : TOKEN} must hold one line of ASCII text`);
};
