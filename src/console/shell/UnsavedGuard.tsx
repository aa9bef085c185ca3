import { useBlocker } from '@tanstack/react-router';
import { ConfirmDialog } from '../design/Dialog.tsx';
import { useTexts } from '../i18n/locale.ts';
import { shellTexts } from './texts.ts';

/**
 * While there is something that is not stored, leaving the screen is asked about, also by the browser's own means.
 * Rendered by the screen; another tab of the same screen is no leaving.
 */
export const UnsavedGuard = ({ isDirty }: { isDirty: boolean }) => {
  const t = useTexts(shellTexts);
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  if (blocker.status !== 'blocked') return null;
  return (
    <ConfirmDialog
      title={t('guard.title')}
      confirm={t('guard.discard')}
      cancel={t('guard.keep')}
      onConfirm={blocker.proceed}
      onClose={blocker.reset}
    >
      <p>{t('guard.text')}</p>
    </ConfirmDialog>
  );
};
