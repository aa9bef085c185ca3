import { createContext, useContext, useMemo } from 'react';
import { useResource } from '../../data/queries.ts';
import { idsOf } from '../../data/records.ts';
import type { Capabilities } from '../../data/resources.ts';
import { useEntryForm } from '../../entry/EntryFields.tsx';
import type { Opened } from '../../entry/entry.ts';
import { type EntryForm, type EntryRules, useEntry } from '../../entry/use-entry.ts';
import { useTexts } from '../../i18n/locale.ts';
import { useProblemTexts } from '../../schema-form/SchemaForm.tsx';
import type { Schema } from '../../schema-form/schema.ts';
import { meaningOf, mirrored } from './draft.ts';
import { saveRequest } from './editing.ts';
import { agentFieldIn, agentProblems } from './problems.ts';
import texts from './texts.json' with { type: 'json' };

/** The form of one agent, which all panels of the editor share. */

export const AGENT = { namespace: 'agents', entity: 'entity.agent' } as const;

export type Known = {
  capabilities: Capabilities;
  /** The kind of the backend that runs agents in this service. */
  localKind: string;
  schema: Schema;
};

const Context = createContext<Known | undefined>(undefined);

export const AgentContext = Context.Provider;

/** The form around a component, and what the editor knows of the service. */
export const useAgent = (): Known & { form: EntryForm } => {
  const known = useContext(Context);
  if (!known) throw new Error('there is no agent editor around this component');
  return { ...known, form: useEntryForm() };
};

export const useAgentForm = (opened: Opened, { capabilities, localKind, schema }: Known): EntryForm => {
  const t = useTexts(texts);
  const schemaText = useProblemTexts();
  const pools = useResource(idsOf('model-pools'), opened.isNew).data;
  // A new agent could be confused with a model or a pool of the same id.
  const taken = useMemo(
    () => new Set([...capabilities.models.map(({ id }) => id), ...(pools ?? [])]),
    [capabilities, pools],
  );
  const rules: EntryRules = {
    ...AGENT,
    schema,
    read: meaningOf,
    derived: (draft) => mirrored({ ...draft, id: draft.id.trim() }, localKind),
    writeOf: (stored, draft) => saveRequest(stored, draft, localKind),
    fieldIn: agentFieldIn,
    check: (draft, { isNew }) =>
      agentProblems(draft, { capabilities, localKind, taken: isNew ? taken : undefined }).map((problem) => [
        problem.path,
        problem.key === 'problem.idTaken' || problem.key === 'problem.tools'
          ? t(problem.key)
          : schemaText({ ...problem, key: problem.key }),
      ]),
  };
  return useEntry(opened, rules);
};
