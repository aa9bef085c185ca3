import { useState } from 'react';
import { anything } from '../../data/guard.ts';
import { invalidate, useResource } from '../../data/queries.ts';
import { pathOf, send } from '../../data/request.ts';
import { ConfirmDialog } from '../../design/Dialog.tsx';
import { SelectField } from '../../design/Inputs.tsx';
import { toast } from '../../feedback/toasts.ts';
import { useWork } from '../../feedback/use-work.ts';
import { useTexts } from '../../i18n/locale.ts';
import { ScreenLink, useGo } from '../../navigation/links.tsx';
import { threadHref } from '../../run-records/run.ts';
import texts from './texts.json' with { type: 'json' };
import { childrenOf, SUMMARIES, type Thread } from './thread.ts';

const STRATEGIES = ['detach', 'reject', 'cascade'] as const;

const MOST_NAMED = 8;

/** Deletes a thread. The dialog first asks what happens to its child threads. */
export const DeleteThread = ({ thread, onClose }: { thread: Thread; onClose: () => void }) => {
  const t = useTexts(texts);
  const go = useGo();
  const children = useResource(childrenOf(thread.id)).data;
  const [strategy, setStrategy] = useState<string>('detach');
  const [isBusy, run] = useWork();
  const count = children?.total ?? 0;
  const remove = async (): Promise<void> => {
    const query = count > 0 ? { child_strategy: strategy } : {};
    await send({ method: 'DELETE', path: pathOf`/v1/threads/${thread.id}`, query }, anything);
    toast('success', t('delete.done'));
    onClose();
    go('/threads');
    // Reads of the deleted thread itself would fail.
    invalidate(SUMMARIES, '/v1/runs');
  };
  return (
    <ConfirmDialog
      title={t('delete.title')}
      confirm={t('delete.confirm')}
      busy={isBusy || children === undefined}
      onConfirm={() => run(remove)}
      onClose={onClose}
    >
      <p>{t('delete.text')}</p>
      {count > 0 && (
        <>
          <p>{t('delete.children', { count })}</p>
          <ul>
            {children?.items.slice(0, MOST_NAMED).map(({ id, title }) => (
              <li key={id}>
                <ScreenLink to={threadHref(id)}>{title ?? id}</ScreenLink>
              </li>
            ))}
          </ul>
          <SelectField
            label={t('delete.strategy')}
            value={strategy}
            options={STRATEGIES.map((each) => [each, t(`delete.${each}`)] as const)}
            onChange={setStrategy}
          />
        </>
      )}
    </ConfirmDialog>
  );
};
