import { useState } from 'react';
import { RequestError, statusOf } from '../data/error.ts';
import { type Guarded, list, object, text, withDefault } from '../data/guard.ts';
import { sourceState } from '../data/meta.ts';
import { type Resource, readResource, useResource } from '../data/queries.ts';
import { type Dependant, dependantsIn, metaOf } from '../data/records.ts';
import { pathOf } from '../data/request.ts';
import { systemInfo } from '../data/resources.ts';
import { undoDelete } from '../data/undo.ts';
import { ConfirmDialog } from '../design/Dialog.tsx';
import feedbackTexts from '../feedback/texts.json' with { type: 'json' };
import { toast, toastError } from '../feedback/toasts.ts';
import { useWrite } from '../feedback/use-write.ts';
import { say, useTexts } from '../i18n/locale.ts';
import { entryHref } from '../navigation/entry-paths.ts';
import { ScreenLink } from '../navigation/links.tsx';
import type { EntryKind } from './entry.ts';
import texts from './texts.json' with { type: 'json' };

/**
 * Deletes an entry of the configuration. The dialog names its dependents before anything is sent; if there are any, the
 * user has to type the id of the entry (console.md 3.10).
 */
export type Deletion = EntryKind & { id: string };

const Dependants = ({ entries }: { entries: readonly Dependant[] }) => (
  <ul>
    {entries.map(({ namespace, id }) => (
      <li key={`${namespace}/${id}`}>
        <ScreenLink to={entryHref(namespace, id)}>
          <code>
            {namespace}/{id}
          </code>
        </ScreenLink>
      </li>
    ))}
  </ul>
);

const UsedBy = object({ used_by: list(object({ namespace: text, id: text })) });

const usersOf = ({ namespace, id }: Deletion): Resource<Guarded<typeof UsedBy>> => ({
  path: pathOf`/v1/config/${namespace}/${id}/used-by`,
  guard: UsedBy,
});

const ids = withDefault(list(text), []);
const Preview = object({ model_ids: ids, pool_ids: ids, agent_ids: ids });

/** The pools and agents that use the models of a provider, too. */
const previewOf = ({ id }: Deletion): Resource<Guarded<typeof Preview>> => ({
  path: pathOf`/v1/config/providers/${id}/removal-preview`,
  guard: Preview,
});

/** The dependents of an entry; undefined until they are read, and empty if the service does not report them. */
const useDependants = (deletion: Deletion, isOpen: boolean): readonly Dependant[] | undefined => {
  const isProvider = deletion.namespace === 'providers';
  const direct = useResource(usersOf(deletion), isOpen && !isProvider);
  const preview = useResource(previewOf(deletion), isOpen && isProvider);
  if (direct.error || preview.error) return [];
  if (direct.data) return direct.data.used_by;
  if (!preview.data) return undefined;
  const { model_ids, pool_ids, agent_ids } = preview.data;
  return [
    ...model_ids.map((id) => ({ namespace: 'models', id })),
    ...pool_ids.map((id) => ({ namespace: 'model-pools', id })),
    ...agent_ids.map((id) => ({ namespace: 'agents', id })),
  ];
};

const undoOf = ({ namespace, entity, id }: Deletion) => ({
  label: say(feedbackTexts, 'write.undo'),
  run: () =>
    void undoDelete(namespace, id).then(
      () =>
        toast('success', say(feedbackTexts, 'write.restored', { entity: say(feedbackTexts, entity), id })),
      toastError,
    ),
});

/** A deletion can be undone only with an audit log. */
const hasAuditLog = (): Promise<boolean> =>
  readResource(systemInfo).then(
    (info) => info.audit_log_enabled,
    () => false,
  );

/** The entries because of which the service refused the deletion. */
const refusedFor = (error: unknown): readonly Dependant[] => {
  if (statusOf(error) !== 409) return [];
  return dependantsIn(
    error instanceof RequestError && error.failure.kind === 'http' ? error.failure.body : undefined,
  );
};

export const DeleteDialog = (
  props: Deletion & {
    /** Says what happens to a built-in entry. */
    note?: string | undefined;
    onDeleted?: () => void;
    onClose: () => void;
  },
) => {
  const t = useTexts(texts);
  const nameOf = useTexts(feedbackTexts);
  const { namespace, entity, id, onClose } = props;
  const write = useWrite({ quietErrors: true });
  // A deletion makes all reads of the namespace stale, and a deleted entry has no dependents to read.
  const listed = useDependants(props, !write.isPending && !write.isSuccess);
  const source = sourceState(useResource(metaOf(namespace)).data?.get(id));
  const [refused, setRefused] = useState<readonly Dependant[]>();
  const users = refused ?? listed;
  const isUsed = users !== undefined && users.length > 0;
  const remove = async (): Promise<void> => {
    const action = (await hasAuditLog()) ? undoOf(props) : undefined;
    const path = pathOf`/v1/config/${namespace}/${id}`;
    const query = isUsed ? { force: true } : {};
    const deletion = { method: 'DELETE', path, query, namespace, entity, id, done: 'deleted' } as const;
    try {
      await write.mutateAsync({ ...deletion, ...(action && { action }) });
      onClose();
      props.onDeleted?.();
    } catch (error) {
      const found = refusedFor(error);
      if (found.length > 0) return setRefused(found);
      toastError(error);
      onClose();
    }
  };
  if (!users) return null;
  const named = { entity: nameOf(entity), id };
  return (
    <ConfirmDialog
      key={isUsed ? 'force' : 'delete'}
      title={t(isUsed ? 'delete.used' : 'delete.title', named)}
      confirm={t(isUsed ? 'delete.force' : 'delete.confirm')}
      typed={isUsed ? id : undefined}
      busy={write.isPending}
      onConfirm={() => void remove()}
      onClose={onClose}
    >
      {isUsed ? (
        <>
          <p>{t('delete.usedText')}</p>
          <Dependants entries={users} />
          {namespace === 'providers' && <p>{t('delete.models')}</p>}
        </>
      ) : (
        <p>{t('delete.text')}</p>
      )}
      {source !== undefined && source !== 'user' && <p>{props.note ?? t('delete.builtin')}</p>}
    </ConfirmDialog>
  );
};
