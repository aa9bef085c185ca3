import { type ReactNode, useState } from 'react';
import { RequestError, statusOf } from '../data/error.ts';
import { readResource } from '../data/queries.ts';
import { type Dependant, dependantsIn, type Namespace } from '../data/records.ts';
import { pathOf } from '../data/request.ts';
import { systemInfo } from '../data/resources.ts';
import { undoDelete } from '../data/undo.ts';
import { type Entity, useWrite } from '../data/use-write.ts';
import { ConfirmDialog } from '../design/Dialog.tsx';
import { say, useTexts } from '../i18n/locale.ts';
import { ScreenLink } from './links.tsx';
import { shellTexts } from './texts.ts';
import { toast, toastError } from './toasts.ts';

/** Deletes an entry of the configuration; what others refer to only after its id has been typed (console.md 3.10). */
export type Deletion = { namespace: Namespace; entity: Entity; id: string };

const PLACES: Partial<Record<string, (id: string) => string>> = {
  agents: (id) => `/agents/${encodeURIComponent(id)}`,
  models: (id) => `/models?edit=${encodeURIComponent(id)}`,
  'model-pools': (id) => `/model-pools?edit=${encodeURIComponent(id)}`,
  providers: (id) => `/providers?edit=${encodeURIComponent(id)}`,
};

export const Dependants = ({ entries }: { entries: readonly Dependant[] }) => (
  <ul>
    {entries.map(({ namespace, id }) => (
      <li key={`${namespace}/${id}`}>
        <ScreenLink to={PLACES[namespace]?.(id) ?? ''}>
          <code>
            {namespace}/{id}
          </code>
        </ScreenLink>
      </li>
    ))}
  </ul>
);

const undoOf = ({ namespace, entity, id }: Deletion) => ({
  label: say(shellTexts, 'write.undo'),
  run: () =>
    void undoDelete(namespace, id).then(
      () => toast('success', say(shellTexts, 'write.restored', { entity: say(shellTexts, entity), id })),
      toastError,
    ),
});

/** Without an audit log there is nothing to bring back. */
const hasAuditLog = (): Promise<boolean> =>
  readResource(systemInfo).then(
    (info) => info.audit_log_enabled,
    () => false,
  );

export const DeleteDialog = (
  props: Deletion & {
    note?: string | undefined;
    /** What is known before the service is asked. */
    children?: ReactNode;
    onDeleted?: () => void;
    onClose: () => void;
  },
) => {
  const t = useTexts(shellTexts);
  const { namespace, entity, id, onClose } = props;
  const [users, setUsers] = useState<readonly Dependant[]>();
  const write = useWrite({ quietErrors: true });
  const remove = async (): Promise<void> => {
    const action = (await hasAuditLog()) ? undoOf(props) : undefined;
    const path = pathOf`/v1/config/${namespace}/${id}`;
    const query = users ? { force: true } : {};
    const deletion = { method: 'DELETE', path, query, namespace, entity, id, done: 'deleted' } as const;
    try {
      await write.mutateAsync({ ...deletion, ...(action && { action }) });
      onClose();
      props.onDeleted?.();
    } catch (error) {
      const body =
        error instanceof RequestError && error.failure.kind === 'http' ? error.failure.body : undefined;
      if (statusOf(error) === 409 && dependantsIn(body).length > 0) setUsers(dependantsIn(body));
      else {
        toastError(error);
        onClose();
      }
    }
  };
  const named = { entity: t(entity), id };
  return (
    <ConfirmDialog
      key={users ? 'force' : 'delete'}
      title={t(users ? 'delete.used' : 'delete.title', named)}
      confirm={t(users ? 'delete.force' : 'delete.confirm')}
      typed={users && id}
      busy={write.isPending}
      onConfirm={() => void remove()}
      onClose={onClose}
    >
      {users ? (
        <>
          <p>{t('delete.usedText')}</p>
          <Dependants entries={users} />
        </>
      ) : (
        <>
          <p>{props.note ?? t('delete.text')}</p>
          {props.children}
        </>
      )}
    </ConfirmDialog>
  );
};
