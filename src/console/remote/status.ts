import {
  anything,
  flag,
  isObject,
  type JsonObject,
  object,
  optional,
  text,
  withDefault,
} from '../data/guard.ts';
import type { Resource } from '../data/queries.ts';
import { pathOf } from '../data/request.ts';

/**
 * Status of a server of remote agents: its agent card, or why it has none. The service fetches the card at most every
 * 15 s.
 */

const Status = object({
  connected: withDefault(flag, false),
  last_error: optional(text),
  card_url: optional(text),
  card: anything,
});
export type RemoteStatus = ReturnType<typeof Status>;

export const remoteStatus = (server: string, every?: number): Resource<RemoteStatus> => ({
  path: pathOf`/v1/a2a-servers/${server}/status`,
  guard: Status,
  every,
});

/** The host of a server that the service did not ask, because only public addresses are allowed. */
export const refusedHostIn = ({
  last_error: error = '',
}: Pick<RemoteStatus, 'last_error'>): string | undefined =>
  /non-public address: (\S+)/.exec(error)?.[1] ??
  (/host is not allowed/.test(error) ? 'localhost' : undefined);

const nonEmptyText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export type CardFacts = {
  name: string | undefined;
  version: string | undefined;
  description: string | undefined;
  skills: { name: string; tags: string[]; description: string | undefined }[];
  interfaces: string[];
  modes: string[];
  capabilities: string[];
  /** Kinds of authentication that the server requires. */
  auth: string[];
};

const objectsIn = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

const interfaceOf = ({ url, protocolBinding, transport, protocolVersion }: JsonObject): string =>
  [nonEmptyText(protocolBinding) ?? nonEmptyText(transport), nonEmptyText(protocolVersion), nonEmptyText(url)]
    .filter(Boolean)
    .join(' ');

const schemeOf = (scheme: unknown): string | undefined => {
  if (!isObject(scheme)) return undefined;
  const [kind] = Object.keys(scheme);
  return nonEmptyText(scheme.type) ?? nonEmptyText(scheme.scheme) ?? kind;
};

/** The card comes from another service, so malformed parts are left out. */
export const factsOf = (card: JsonObject): CardFacts => {
  const { capabilities, securitySchemes } = card;
  const interfaces = card.supportedInterfaces ?? card.interfaces ?? card.additionalInterfaces;
  return {
    name: nonEmptyText(card.name),
    version: nonEmptyText(card.version),
    description: nonEmptyText(card.description),
    skills: objectsIn(card.skills).map((skill) => ({
      name: nonEmptyText(skill.name) ?? nonEmptyText(skill.id) ?? '—',
      tags: textsIn(skill.tags),
      description: nonEmptyText(skill.description),
    })),
    interfaces: objectsIn(interfaces).map(interfaceOf),
    modes: [...new Set([...textsIn(card.defaultInputModes), ...textsIn(card.defaultOutputModes)])],
    capabilities: isObject(capabilities)
      ? Object.keys(capabilities).filter((key) => capabilities[key] === true)
      : [],
    auth: isObject(securitySchemes)
      ? Object.entries(securitySchemes).map(([name, scheme]) => schemeOf(scheme) ?? name)
      : [],
  };
};
