import {
  anything,
  flag,
  type Guarded,
  isObject,
  type JsonObject,
  object,
  optional,
  text,
  withDefault,
} from '../data/guard.ts';
import type { Resource } from '../data/queries.ts';
import { pathOf } from '../data/request.ts';

/** How a service of remote agents is: its card, or why there is none. The service asks it at most every 15 s. */

const Status = object({
  connected: withDefault(flag, false),
  last_error: optional(text),
  card_url: optional(text),
  card: anything,
});
export type RemoteStatus = Guarded<typeof Status>;

export const remoteStatus = (server: string, every?: number): Resource<RemoteStatus> => ({
  path: pathOf`/v1/a2a-servers/${server}/status`,
  guard: Status,
  every,
});

const said = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export type CardFacts = {
  name: string | undefined;
  version: string | undefined;
  description: string | undefined;
  skills: { name: string; tags: string[]; description: string | undefined }[];
  interfaces: string[];
  modes: string[];
  capabilities: string[];
  /** Kinds of authentication that it asks for. */
  auth: string[];
};

const objectsIn = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

const interfaceOf = ({ url, protocolBinding, transport, protocolVersion }: JsonObject): string =>
  [said(protocolBinding) ?? said(transport), said(protocolVersion), said(url)].filter(Boolean).join(' ');

const schemeOf = (scheme: unknown): string | undefined => {
  if (!isObject(scheme)) return undefined;
  const [kind] = Object.keys(scheme);
  return said(scheme.type) ?? said(scheme.scheme) ?? kind;
};

/** A card is somebody else's: whatever of it is not as it should be is left out. */
export const factsOf = (card: JsonObject): CardFacts => {
  const { capabilities, securitySchemes } = card;
  const interfaces = card.supportedInterfaces ?? card.interfaces ?? card.additionalInterfaces;
  return {
    name: said(card.name),
    version: said(card.version),
    description: said(card.description),
    skills: objectsIn(card.skills).map((skill) => ({
      name: said(skill.name) ?? said(skill.id) ?? '—',
      tags: textsIn(skill.tags),
      description: said(skill.description),
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
