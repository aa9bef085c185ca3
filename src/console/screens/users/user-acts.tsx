import { useState } from 'react';
import { ActDialog } from '../../access/ActDialog.tsx';
import { anything } from '../../data/guard.ts';
import { invalidate } from '../../data/queries.ts';
import { pathOf, send } from '../../data/request.ts';
import { SelectField } from '../../design/Inputs.tsx';
import { toast } from '../../feedback/toasts.ts';
import { useTexts } from '../../i18n/locale.ts';
import { useGo } from '../../navigation/links.tsx';
import { texts } from './texts.ts';
import { changedUsers, type User } from './user.ts';

/** Dialogs of a user: disable, enable, sign out and delete. */

type ActProps = { user: User; onClose: () => void };

export const DisableUser = ({ user: { id, disabled }, onClose }: ActProps) => {
  const t = useTexts(texts);
  const what = disabled ? 'enable' : 'disable';
  const act = async (): Promise<void> => {
    await send({ method: 'PATCH', path: pathOf`/v1/users/${id}`, body: { disabled: !disabled } }, anything);
    changedUsers();
    toast('success', t(`${what}.done`, { id }));
  };
  return (
    <ActDialog
      title={t(`${what}.title`, { id })}
      confirm={t(`${what}.confirm`)}
      tone={disabled ? 'primary' : 'danger'}
      act={act}
      onClose={onClose}
    >
      <p>{t(`${what}.text`)}</p>
    </ActDialog>
  );
};

export const SignOutUser = ({ user: { id }, onClose }: ActProps) => {
  const t = useTexts(texts);
  const act = async (): Promise<void> => {
    await send({ method: 'POST', path: pathOf`/v1/users/${id}/sign-out` }, anything);
    changedUsers();
    toast('success', t('signOut.done', { id }));
  };
  return (
    <ActDialog title={t('signOut.title', { id })} confirm={t('signOut.confirm')} act={act} onClose={onClose}>
      <p>{t('signOut.text')}</p>
    </ActDialog>
  );
};

const OF_THREADS = ['keep', 'delete'] as const;

/** Asks what happens to the threads of the user. Their deletion has to be typed. */
export const DeleteUser = ({ user: { id }, onClose }: ActProps) => {
  const t = useTexts(texts);
  const go = useGo();
  const [threads, setThreads] = useState<string>('keep');
  const act = async (): Promise<void> => {
    await send({ method: 'DELETE', path: pathOf`/v1/users/${id}`, query: { threads } }, anything);
    toast('success', t('delete.done', { id }));
    go('/users');
    // A read of the deleted user itself would fail.
    setTimeout(() => {
      changedUsers();
      invalidate('/v1/threads');
    });
  };
  return (
    <ActDialog
      title={t('delete.title', { id })}
      confirm={t('delete.confirm')}
      typed={threads === 'delete' ? id : undefined}
      act={act}
      onClose={onClose}
    >
      <p>{t('delete.text')}</p>
      <SelectField
        label={t('delete.threads')}
        hint={t(threads === 'delete' ? 'delete.deleteNote' : 'delete.keepNote')}
        value={threads}
        options={OF_THREADS.map((each) => [each, t(`delete.threads.${each}`)] as const)}
        onChange={setThreads}
      />
    </ActDialog>
  );
};
