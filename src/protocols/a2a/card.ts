import { z } from 'zod';
import { withoutTrailingSlashes } from '../../schema/trailing-slashes.ts';

/** Creates agent cards (a2a.md 4, 5). */

export type CardAgent = { id: string; description: string };

export type CardFacts = {
  version: string;
  /** `scheme://host[:port]` */
  origin: string;
  organization: string;
  providerUrl: string | undefined;
  push: boolean;
  extended: boolean;
  /** Whether requests without a credential are accepted. */
  isOpen: boolean;
  /** The identity providers whose access tokens are accepted. */
  issuers: readonly { id: string; issuer: string }[];
  /** Omits everything that A2A 1.0 does not define. */
  strict: boolean;
};

const SecurityScheme = z.union([
  z.object({ httpAuthSecurityScheme: z.object({ scheme: z.string() }) }),
  z.object({ openIdConnectSecurityScheme: z.object({ openIdConnectUrl: z.string() }) }),
]);
type SecurityScheme = z.infer<typeof SecurityScheme>;

export const AgentCard = z
  .object({
    name: z.string(),
    description: z.string(),
    version: z.string(),
    supportedInterfaces: z.array(
      z.object({
        url: z.string(),
        protocolBinding: z.string(),
        protocolVersion: z.string(),
        tenant: z.string().optional(),
      }),
    ),
    provider: z.object({ organization: z.string(), url: z.string() }),
    capabilities: z.object({
      streaming: z.boolean(),
      pushNotifications: z.boolean(),
      stateTransitionHistory: z.boolean().optional(),
      extendedAgentCard: z.boolean(),
    }),
    securitySchemes: z.record(z.string(), SecurityScheme).optional(),
    securityRequirements: z
      .array(z.object({ schemes: z.record(z.string(), z.object({ list: z.array(z.string()) })) }))
      .optional(),
    defaultInputModes: z.array(z.string()),
    defaultOutputModes: z.array(z.string()),
    skills: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        description: z.string(),
        tags: z.array(z.string()),
        inputModes: z.array(z.string()),
        outputModes: z.array(z.string()),
      }),
    ),
  })
  .meta({ id: 'A2aAgentCard', description: 'Abilities and interfaces of an agent.' });
type AgentCard = z.infer<typeof AgentCard>;

const INPUT_MODES = ['text/plain', 'application/json'];
const OUTPUT_MODES = ['text/plain'];

/**
 * @param tenants agents with an interface entry in addition to that of the agent itself
 * @param own whether the entry of the agent names it as tenant
 */
export const agentCard = (
  agent: CardAgent,
  facts: CardFacts,
  { own = false, tenants = [] }: { own?: boolean; tenants?: readonly CardAgent[] } = {},
): AgentCard => ({
  name: agent.id,
  description: agent.description,
  version: facts.version,
  supportedInterfaces: [
    { ...entry(facts), ...(own && { tenant: agent.id }) },
    ...tenants.map(({ id }) => ({ ...entry(facts), tenant: id })),
  ],
  provider: { organization: facts.organization, url: facts.providerUrl ?? facts.origin },
  capabilities: {
    streaming: true,
    pushNotifications: facts.push,
    ...(!facts.strict && { stateTransitionHistory: false }),
    extendedAgentCard: facts.extended,
  },
  ...securityOf(facts),
  defaultInputModes: INPUT_MODES,
  defaultOutputModes: OUTPUT_MODES,
  skills: [agent, ...tenants.filter(({ id }) => id !== agent.id)].map(skill),
});

const entry = ({ origin }: CardFacts) => ({
  url: `${origin}/v1/a2a`,
  protocolBinding: 'HTTP+JSON',
  protocolVersion: '1.0',
});

const skill = ({ id, description }: CardAgent) => ({
  id,
  name: id,
  description,
  tags: ['agent'],
  inputModes: INPUT_MODES,
  outputModes: OUTPUT_MODES,
});

/**
 * The token of the extended card opens nothing else, so it is an alternative only where nothing else needs a credential
 * (identity.md 3.3).
 */
const securityOf = ({
  isOpen,
  extended,
  issuers,
}: CardFacts): Pick<AgentCard, 'securitySchemes' | 'securityRequirements'> => {
  const ofPrincipals = isOpen ? {} : { bearer: BEARER, ...Object.fromEntries(issuers.map(openIdScheme)) };
  const securitySchemes = { ...ofPrincipals, ...(extended && { extendedCardBearer: BEARER }) };
  const required = Object.keys(isOpen ? securitySchemes : ofPrincipals);
  if (required.length === 0) return {};
  return {
    securitySchemes,
    securityRequirements: required.map((name) => ({ schemes: { [name]: { list: [] } } })),
  };
};

const BEARER: SecurityScheme = { httpAuthSecurityScheme: { scheme: 'Bearer' } };

const openIdScheme = ({ id, issuer }: CardFacts['issuers'][number]): [string, SecurityScheme] => [
  `oidc_${id}`,
  {
    openIdConnectSecurityScheme: {
      openIdConnectUrl: `${withoutTrailingSlashes(issuer)}/.well-known/openid-configuration`,
    },
  },
];
