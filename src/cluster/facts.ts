import { z } from 'zod';
import type { Origin } from '../http/origin.ts';
import { parseGrants } from '../schema/grants.ts';
import type { Principal } from '../schema/principal.ts';

/**
 * The facts about a client that only the member that accepted its request can read: from the socket, or from the program
 * that embeds that member. They go along with a forwarded request, and replace what the socket between members shows.
 *
 * Relies on the signature of the request for their truth.
 */
export type ClientFacts = z.infer<typeof ClientFacts>;

const Principals = z.object({
  scope: z.string(),
  user: z.string().optional(),
  /** The texts of each limit of its rights. */
  authority: z.array(z.array(z.string())),
  unlimited: z.array(z.array(z.string())).optional(),
  credential: z.object({
    kind: z.enum(['admin', 'key', 'jwt', 'session', 'ticket', 'program', 'anonymous']),
    id: z.string().optional(),
    line: z.string().optional(),
    act: z.literal(true).optional(),
  }),
});

const ClientFacts = z.object({
  /** The host that the request names, as it came. */
  host: z.string(),
  /** The address of the peer in its short form; empty without a socket. */
  address: z.string(),
  sender: z.discriminatedUnion('from', [
    z.object({
      from: z.literal('network'),
      entry: z.object({
        scheme: z.enum(['http', 'https']),
        isLocalListener: z.boolean(),
        isHostAccepted: z.boolean(),
      }),
    }),
    z.object({ from: z.literal('stranger') }),
    z.object({ from: z.literal('program'), principal: Principals }),
  ]),
});

export const encodeFacts = (facts: ClientFacts): string =>
  Buffer.from(JSON.stringify(facts)).toString('base64url');

/** Returns undefined if the text does not contain facts of this version. */
export const decodeFacts = (text: string): ClientFacts | undefined => {
  try {
    const facts = ClientFacts.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
    originOf(facts);
    return facts;
  } catch {
    return undefined;
  }
};

/**
 * Returns the sender in the form that travels. Rights of a principal of a program do not follow later changes of users
 * and keys, because what derives them again exists in the process of the program only.
 */
export const senderOf = (
  from: Origin,
  entry: Extract<ClientFacts['sender'], { from: 'network' }>['entry'],
): ClientFacts['sender'] => {
  if (from.from === 'network') return { from: 'network', entry };
  if (from.from === 'stranger') return { from: 'stranger' };
  const { scope, user, authority, unlimited, credential } = from.principal;
  return {
    from: 'program',
    principal: {
      scope,
      user,
      authority: authority.map(textsOf),
      unlimited: unlimited?.map(textsOf),
      credential: { ...credential },
    },
  };
};

const textsOf = ({ texts }: Principal['authority'][number]): string[] => [...texts];

/** @throws Invalid when the rights of a principal have a word that this version does not have */
export const originOf = ({ sender }: ClientFacts): Origin => {
  if (sender.from !== 'program') return sender;
  const { scope, user, authority, unlimited, credential } = sender.principal;
  return {
    from: 'program',
    principal: {
      scope,
      user,
      authority: authority.map(parseGrants),
      ...(unlimited && { unlimited: unlimited.map(parseGrants) }),
      credential: {
        kind: credential.kind,
        ...(credential.id !== undefined && { id: credential.id }),
        ...(credential.line !== undefined && { line: credential.line }),
        ...(credential.act && { act: true }),
      },
    },
  };
};
