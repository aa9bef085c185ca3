import type { z } from 'zod';
import type { Client, RunMessage } from '../client/index.ts';
import { parseStructuredOutput } from '../client/run-stream.ts';
import { type DefinedAgent, outputOf, toJsonSchema } from './define-agent.ts';

/** Runs one agent for its result. */

/**
 * The result of `troupe.run`: a value of the schema of the agent, or the text of an agent without one.
 *
 * @example
 * ```ts
 * const { output, run_id }: AgentRun<unknown> = await troupe.run('default', 'Hello');
 * console.log(output, (await troupe.runs.get(run_id)).cost_usd);
 * ```
 */
export type AgentRun<Output> = { output: Output; text: string; run_id: string; thread_id: string };

/**
 * Options of `troupe.run`. Aborting the signal ends the wait; the run continues.
 *
 * @example
 * ```ts
 * const options: RunAgentOptions = { thread_id: 'first', signal: AbortSignal.timeout(60_000) };
 * const { text } = await troupe.run('default', 'And tomorrow?', options);
 * ```
 */
export type RunAgentOptions = {
  /** Thread to continue or to create under this id; default: a new thread. */
  thread_id?: string;
  signal?: AbortSignal;
  /** With the same key and input, no second run is started, and the result is that of the first. */
  idempotency_key?: string;
};

type Input = string | readonly RunMessage[];

export type RunAgent = {
  <Output>(
    agent: string | DefinedAgent<unknown>,
    input: Input,
    options: RunAgentOptions & { /** Replaces the schema of the agent. */ output: z.ZodType<Output> },
  ): Promise<AgentRun<Output>>;
  <Output>(agent: DefinedAgent<Output>, input: Input, options?: RunAgentOptions): Promise<AgentRun<Output>>;
  (agent: string, input: Input, options?: RunAgentOptions): Promise<AgentRun<unknown>>;
};

export const runAgent = ({ runs }: Pick<Client, 'runs'>): RunAgent =>
  // The overloads type the result by the schema that parses it.
  (async (
    agent: string | DefinedAgent<unknown>,
    input: Input,
    { thread_id, output, ...options }: RunAgentOptions & { output?: z.ZodType } = {},
  ): Promise<AgentRun<unknown>> => {
    const schema = output ?? (typeof agent === 'string' ? undefined : outputOf(agent));
    const stream = runs.stream(
      {
        agentId: typeof agent === 'string' ? agent : agent.id,
        ...(thread_id !== undefined && { threadId: thread_id }),
        messages: typeof input === 'string' ? [{ role: 'user', content: input }] : input,
        ...(output && { output_schema: toJsonSchema(output) }),
      },
      options,
    );
    const end = await stream.end();
    const { text, run_id, termination, structured_output } = end;
    const isText = !schema && structured_output === undefined && termination.type === 'natural_end';
    return {
      output: isText ? text : parseStructuredOutput(end, schema),
      text,
      run_id,
      thread_id: end.thread_id,
    };
  }) as RunAgent;
