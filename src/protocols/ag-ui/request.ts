import { z } from 'zod';
import { notBoth } from '../../schema/paging.ts';

/**
 * The body of the routes that start an AG-UI run (chat-and-agui.md 11, 13.2). The content of messages is looked at
 * one by one later: most of them are history, which the service has.
 */

const AgUiMessage = z.object({
  role: z.string(),
  id: z.string().nullish(),
  content: z.unknown().optional(),
  toolCallId: z.string().nullish(),
  error: z.string().nullish(),
});
export type AgUiMessage = z.output<typeof AgUiMessage>;

/** A tool that the client executes, of this run alone. */
const FrontendTool = z
  .object({
    name: z.string(),
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.json()).nullish(),
  })
  .transform(({ name, description, parameters }) => ({
    name,
    description: description ?? 'Frontend tool',
    parameters: parameters ?? { type: 'object', properties: {} },
  }));
export type FrontendTool = z.output<typeof FrontendTool>;

const Answer = z.object({
  interruptId: z.string(),
  status: z.enum(['resolved', 'cancelled']),
  payload: z.json().optional(),
});

/** From clients that know no list of answers. One without an id answers nothing. */
const SingleAnswer = z
  .object({
    interruptId: z.string().nullish(),
    interrupt_id: z.string().nullish(),
    status: Answer.shape.status.default('resolved'),
    payload: z.json().optional(),
  })
  .check(notBoth('interruptId', 'interrupt_id'))
  .transform(({ interruptId, interrupt_id, ...answer }): z.output<typeof Answer>[] => {
    const id = interruptId ?? interrupt_id;
    return id ? [{ interruptId: id, ...answer }] : [];
  });

export type ResumeEntry = z.output<typeof Answer>;

export const AgUiBody = z
  .object({
    messages: z.array(AgUiMessage).default([]),
    threadId: z.string().nullish(),
    thread_id: z.string().nullish(),
    agentId: z.string().nullish(),
    agent_id: z.string().nullish(),
    state: z.json().optional(),
    context: z.json().optional(),
    tools: z.array(FrontendTool).default([]),
    resume: z.union([z.array(Answer), SingleAnswer]).nullish(),
    protocolVersion: z.unknown().optional(),
  })
  .check(notBoth('threadId', 'thread_id'), notBoth('agentId', 'agent_id'))
  .transform(({ threadId, thread_id, agentId, agent_id, resume, protocolVersion, ...body }) => ({
    ...body,
    /** Clients name the version since 1.0; those warn of every key that it does not have. */
    strict: typeof protocolVersion === 'string',
    resume: resume ?? [],
    thread_id: (threadId ?? thread_id)?.trim() || undefined,
    agent_id: (agentId ?? agent_id)?.trim() || undefined,
  }));
export type AgUiBody = z.output<typeof AgUiBody>;
