import type { z } from 'zod';
import type { Client, RunMessage } from './client/index.ts';
import { structuredOutputOf } from './client/run-stream.ts';
import { type DefinedAgent, jsonSchemaOf, outputOf } from './define-agent.ts';

/** One run of an agent for the sake of its result. */

export type AgentRun<Output> = { output: Output; text: string; run_id: string; thread_id: string };

export type RunAgentOptions = {
  /** Continues this thread, or makes one of this id; default: a new one. */
  thread_id?: string;
  signal?: AbortSignal;
};

type Input = string | readonly RunMessage[];

export type RunAgent = {
  <Output>(
    agent: string | DefinedAgent<unknown>,
    input: Input,
    options: RunAgentOptions & { /** In place of that of the agent. */ output: z.ZodType<Output> },
  ): Promise<AgentRun<Output>>;
  <Output>(agent: DefinedAgent<Output>, input: Input, options?: RunAgentOptions): Promise<AgentRun<Output>>;
  (agent: string, input: Input, options?: RunAgentOptions): Promise<AgentRun<unknown>>;
};

export const runAgent = ({ runs }: Pick<Client, 'runs'>): RunAgent =>
  // The overloads give the result the type of the schema that parses it.
  (async (
    agent: string | DefinedAgent<unknown>,
    input: Input,
    { thread_id, signal, output }: RunAgentOptions & { output?: z.ZodType } = {},
  ): Promise<AgentRun<unknown>> => {
    const schema = output ?? (typeof agent === 'string' ? undefined : outputOf(agent));
    const stream = runs.stream(
      {
        agentId: typeof agent === 'string' ? agent : agent.id,
        ...(thread_id !== undefined && { threadId: thread_id }),
        messages: typeof input === 'string' ? [{ role: 'user', content: input }] : input,
        ...(output && { output_schema: jsonSchemaOf(output) }),
      },
      signal && { signal },
    );
    const end = await stream.end();
    const { text, run_id, termination, structured_output } = end;
    const isText = !schema && structured_output === undefined && termination.type === 'natural_end';
    return {
      output: isText ? text : structuredOutputOf(end, schema),
      text,
      run_id,
      thread_id: end.thread_id,
    };
  }) as RunAgent;
