import { useBlocker } from '@tanstack/react-router';
import { ConfirmDialog } from '../design/Dialog.tsx';
import { useTexts } from '../i18n/locale.ts';
import navigationTexts from './texts.json' with { type: 'json' };

/** Asks before unsaved changes are discarded. */
export const DiscardDialog = (props: { onDiscard: () => void; onKeep: () => void }) => {
  const t = useTexts(navigationTexts);
  return (
    <ConfirmDialog
      title={t('guard.title')}
      confirm={t('guard.discard')}
      cancel={t('common.keepEditing')}
      onConfirm={props.onDiscard}
      onClose={props.onKeep}
    >
      <p>{t('guard.text')}</p>
    </ConfirmDialog>
  );
};

/**
 * Asks before the user leaves a screen with unsaved changes, including through the browser itself. Screens render it;
 * switching between tabs of the same screen does not trigger it.
 */
export const UnsavedGuard = ({ isDirty }: { isDirty: boolean }) => {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  if (blocker.status !== 'blocked') return null;
  return <DiscardDialog onDiscard={blocker.proceed} onKeep={blocker.reset} />;
};
