import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { JsonObject } from '../../data/guard.ts';
import { useResource } from '../../data/queries.ts';
import { NamedRecord, recordsOf } from '../../data/records.ts';
import { pathOf } from '../../data/request.ts';
import type { Capabilities } from '../../data/resources.ts';
import { MergeDialog } from '../../entry/MergeDialog.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import { UnsavedGuard } from '../../navigation/UnsavedGuard.tsx';
import css from './AgentEditor.module.css';
import { meaningOf } from './draft.ts';
import {
  type Editing,
  edited,
  isDirty,
  overridesOf,
  rebased,
  reopened,
  replacedBy,
  sourceOf,
  typedAt,
} from './editing.ts';
import { Header } from './Header.tsx';
import { KeptOffer, useKept } from './KeptOffer.tsx';
import { Overrides } from './Overridden.tsx';
import { overriddenIn } from './override-patch.ts';
import { tabOf } from './problems.ts';
import { SandboxPlace } from './SandboxPlace.tsx';
import { SaveBar } from './SaveBar.tsx';
import { Panel, TabList, useTab } from './Tabs.tsx';
import { useEditorCommands } from './use-commands.ts';
import type { Opening } from './use-opened-agent.ts';
import { useSaving } from './use-saving.ts';

const POOLS = recordsOf('model-pools', NamedRecord);

/** Ids of models and pools, which a new agent must not use because it could be confused with them. */
const useTaken = (capabilities: Capabilities, isNew: boolean): ReadonlySet<string> => {
  const pools = useResource(POOLS, isNew).data;
  return useMemo(
    () => new Set([...capabilities.models, ...(pools ?? [])].map(({ id }) => id)),
    [capabilities, pools],
  );
};

/** Opens the tab of a problem and then focuses its first invalid field. */
const useShowField = (): ((field: string) => void) => {
  const [, setQuery] = useQueryState();
  const [wanted, want] = useState<{ field: string }>();
  useEffect(() => {
    if (!wanted) return;
    const first = document.querySelector<HTMLElement>('[role="tabpanel"] [aria-invalid="true"]');
    first?.focus();
  }, [wanted]);
  return useCallback(
    (field) => {
      const tab = tabOf(field);
      const [, section] = /^sections\.([^.]+)/.exec(field) ?? [];
      setQuery({ tab: tab === 'basics' ? undefined : tab, ...(section && { section }) });
      // The tab is rendered after the address has changed.
      setTimeout(() => want({ field }));
    },
    [setQuery],
  );
};

/** Replaces the address once a new agent has been stored. */
const useOwnAddress = ({ isNew, start }: Editing): void => {
  const navigate = useNavigate();
  useEffect(() => {
    if (isNew || !location.pathname.endsWith('/agents/new')) return;
    const search = (before: Record<string, unknown>) => ({ ...before, from: undefined });
    void navigate({ to: `/agents/${encodeURIComponent(start.id)}`, search, replace: true });
  }, [isNew, start.id, navigate]);
};

type EditorProps = {
  editing: Editing;
  opening: Opening;
  capabilities: Capabilities;
  localKind: string;
};

export const Editor = ({ editing, opening, capabilities, localKind }: EditorProps) => {
  const taken = useTaken(capabilities, editing.isNew);
  const saving = useSaving(opening, { localKind, taken, capabilities, show: useShowField() });
  const [tab, setTab] = useTab();
  const dirty = isDirty(editing);
  const kept = useKept(editing, dirty);
  useOwnAddress(editing);
  const change = (fields: JsonObject): void => {
    saving.forget(Object.keys(fields));
    opening.set((before) => edited(before, fields, localKind));
  };
  const onUnread = (field: string, text: string | undefined): void =>
    opening.set((before) => typedAt(before, field, text));
  const replace = (draft: Editing['draft']): void => opening.set((before) => replacedBy(before, draft));
  const { id } = editing.start;
  const rewrite = (path: string) =>
    void saving.rewrite({ method: 'DELETE', path }, (spec, meta) => rebased(editing, spec, meta));
  const actions = {
    save: () => void saving.save(editing),
    validate: () => void saving.validate(editing),
    reset: () => rewrite(pathOf`/v1/config/agents/${id}/overrides`),
  };
  useEditorCommands(editing, actions);
  const isUser = sourceOf(editing) === 'user';
  return (
    <div className={css.editor}>
      <UnsavedGuard isDirty={dirty} />
      <div className={css.main}>
        <Header editing={editing} reset={actions.reset} />
        <KeptOffer kept={kept} onTake={replace} />
        <TabList tab={tab} editing={editing} errors={saving.errors} onChange={setTab} />
        <Overrides
          fields={isUser ? NOTHING : overriddenIn(overridesOf(editing))}
          onReset={(field) => rewrite(pathOf`/v1/config/agents/${id}/overrides/${field}`)}
        >
          <Panel
            tab={tab}
            editing={editing}
            localKind={localKind}
            onReplace={replace}
            onReopen={(spec, meta) => opening.set((before) => reopened(before, spec, meta))}
            panel={{
              draft: editing.draft,
              start: editing.start,
              isNew: editing.isNew,
              change,
              capabilities,
              errors: saving.errors,
              unread: editing.unread,
              onUnread,
            }}
          />
        </Overrides>
        <SaveBar
          editing={editing}
          dirty={dirty}
          busy={saving.busy}
          {...actions}
          onDiscard={() => replace(editing.start)}
        />
      </div>
      <SandboxPlace draft={editing.draft} storedId={editing.isNew ? undefined : id} />
      {saving.conflict && (
        <MergeDialog
          base={editing.start}
          mine={editing.draft}
          theirs={saving.conflict.spec}
          actor={saving.conflict.meta?.actor}
          read={meaningOf}
          onMerge={saving.resolve}
          onTakeTheirs={saving.takeTheirs}
          onClose={saving.leaveConflict}
        />
      )}
    </div>
  );
};

const NOTHING: ReadonlySet<string> = new Set();
