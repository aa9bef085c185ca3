import { createHash } from 'node:crypto';
import type { AgentSpec } from '../../schema/agent.ts';
import type { ToolDescriptor } from '../../schema/tool-descriptor.ts';

/** Content-based ids (evals-and-traces.md 9.8): the same prompt has the same id in every run. */

const SEPARATOR = '\u001f';
const DIGITS = 12;

const idOf = (...parts: string[]): string =>
  createHash('sha256').update(parts.join(SEPARATOR)).digest('hex').slice(0, DIGITS);

/** Specs and descriptors never change, and their ids are needed for every event. */
const remembering = <Of extends object>(make: (of: Of) => string): ((of: Of) => string) => {
  const known = new WeakMap<Of, string>();
  return (of) => {
    const id = known.get(of) ?? make(of);
    known.set(of, id);
    return id;
  };
};

export const promptId = remembering(({ id, system_prompt }: Pick<AgentSpec, 'id' | 'system_prompt'>) =>
  idOf(id, 'system', system_prompt),
);

export const toolId = remembering(({ name, description, parameters }: ToolDescriptor) =>
  idOf(name, description, JSON.stringify(parameters)),
);
