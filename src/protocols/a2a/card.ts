/** What an agent card says (a2a.md 4, 5), and in which form. */

export type CardAgent = { id: string; description: string };

export type CardFacts = {
  version: string;
  /** `scheme://host[:port]` */
  origin: string;
  organization: string;
  providerUrl: string | undefined;
  push: boolean;
  extended: boolean;
  /** Only what A2A 1.0 knows. */
  strict: boolean;
};

const INPUT_MODES = ['text/plain', 'application/json'];
const OUTPUT_MODES = ['text/plain'];

/**
 * @param tenants whose entries stand beside that of the agent itself
 * @param own whether the entry of the agent names it as tenant
 */
export const agentCard = (
  agent: CardAgent,
  facts: CardFacts,
  { own = false, tenants = [] }: { own?: boolean; tenants?: readonly CardAgent[] } = {},
) => ({
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
  ...(facts.extended && SECURITY),
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

const SECURITY = {
  securitySchemes: { extendedCardBearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
  securityRequirements: [{ schemes: { extendedCardBearer: { list: [] } } }],
};
