import { createHmac } from 'node:crypto';
import { MissingRequiredClientCapabilityError, ProtocolError } from '@modelcontextprotocol/server';
import { text } from './content.ts';
import type { Fixture, FixtureTool } from './fixture.ts';

/**
 * Tools of revision 2026-07-28, in which a server sends no requests: a call returns its open questions, and is repeated
 * with the responses.
 */

const INVALID_PARAMS = -32_602;

type Question = { method: string; params: object };

const elicitation = (message: string, name: string, type = 'string'): Question => ({
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message,
    requestedSchema: { type: 'object', properties: { [name]: { type } }, required: [name] },
  },
});

const sampling = (prompt: string): Question => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: text(prompt) }], maxTokens: 100 },
});

const ROOTS: Question = { method: 'roots/list', params: {} };

const asked = (inputRequests: Record<string, Question>, requestState?: string) => ({
  resultType: 'input_required' as const,
  inputRequests,
  ...(requestState !== undefined && { requestState }),
});

const done = (said: string) => ({ content: [text(said)] });

/** The key of a test, not a real secret. */
const sealed = (state: string): string =>
  `${state}.${createHmac('sha256', 'fixtures').update(state).digest('hex')}`;

const isSealed = (state: string): boolean => state === sealed(state.split('.')[0] ?? '');

/** Returns the questions again while a response is missing or invalid. */
const asks = (questions: Record<string, Question>, state?: string): FixtureTool => ({
  inputSchema: { type: 'object' },
  async call(_, fixture) {
    if (fixture.state !== undefined && !isSealed(fixture.state)) {
      throw new ProtocolError(INVALID_PARAMS, 'this is not the state that was given');
    }
    const unanswered = Object.keys(questions).filter((key) => typeof fixture.answers[key] !== 'object');
    if (unanswered.length === 0) return done(`state-ok ${JSON.stringify(fixture.answers)}`);
    return asked(questions, state === undefined ? undefined : sealed(state));
  },
});

/** Requests to a client, by the required capability. */
const BY_CAPABILITY: Record<string, Question> = {
  elicitation: elicitation('What is your name?', 'name'),
  sampling: sampling('Generate a greeting'),
  roots: ROOTS,
};

const askedOf = ({ capabilities }: Fixture) =>
  asked(Object.fromEntries(Object.entries(BY_CAPABILITY).filter(([name]) => name in capabilities)));

const ROUND: Record<string, [question: Question, next: string | undefined]> = {
  first: [elicitation('Step 1: What is your name?', 'name'), 'second'],
  second: [elicitation('Step 2: What is your favorite color?', 'color'), undefined],
};

export const ROUNDS: Record<string, FixtureTool> = {
  test_input_required_result_elicitation: asks({ user_name: elicitation('What is your name?', 'name') }),
  test_input_required_result_sampling: asks({ capital_question: sampling('What is the capital of France?') }),
  test_input_required_result_list_roots: asks({ client_roots: ROOTS }),
  test_input_required_result_request_state: asks(
    { confirm: elicitation('Please confirm', 'ok', 'boolean') },
    'one',
  ),
  test_input_required_result_multiple_inputs: asks(
    {
      user_name: elicitation('What is your name?', 'name'),
      greeting: sampling('Generate a greeting'),
      client_roots: ROOTS,
    },
    'three',
  ),
  test_input_required_result_tampered_state: asks(
    { confirm: elicitation('Please confirm', 'ok', 'boolean') },
    'mine',
  ),
  test_input_required_result_multi_round: {
    inputSchema: { type: 'object' },
    async call(_, { state }) {
      // The state names the round before this call.
      const round = state === undefined ? 'first' : ROUND[state]?.[1];
      const question = round === undefined ? undefined : ROUND[round]?.[0];
      return question === undefined ? done('All rounds are over.') : asked({ [`${round}`]: question }, round);
    },
  },
  test_input_required_result_capabilities: {
    inputSchema: { type: 'object' },
    call: async (_, fixture) => askedOf(fixture),
  },
  test_missing_capability: {
    inputSchema: { type: 'object' },
    async call(_, { capabilities }) {
      if ('sampling' in capabilities) return done('capable');
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
    },
  },
  test_streaming_elicitation: asks({ user_name: elicitation('What is your name?', 'name') }),
  test_logging_tool: {
    inputSchema: { type: 'object' },
    async call(_, { log }) {
      log('info', 'Tool execution started');
      return done('logged');
    },
  },
};
