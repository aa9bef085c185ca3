import { lazy, Suspense } from 'react';
import { Button } from '../design/Button.tsx';
import { Dialog, DialogClose } from '../design/Dialog.tsx';
import { SkeletonRows } from '../design/Notice.tsx';
import { useTexts } from '../i18n/locale.ts';
import { useQueryState } from '../list/use-query-state.ts';
import texts from './texts.json' with { type: 'json' };

const ConnectModel = lazy(() => import('./ConnectModel.tsx'));

export const ConnectButton = () => {
  const t = useTexts(texts);
  const [, setQuery] = useQueryState();
  return (
    <Button icon="plus" tone="primary" onClick={() => setQuery({ connect: '1' })}>
      {t('title')}
    </Button>
  );
};

/** Connects models above a list, while the address contains `connect=1`. */
export const ConnectDialog = ({ onClose }: { onClose: () => void }) => {
  const t = useTexts(texts);
  return (
    <Dialog title={t('title')} size={760} onClose={onClose}>
      <Suspense fallback={<SkeletonRows />}>
        <ConnectModel />
      </Suspense>
      <DialogClose onClose={onClose} />
    </Dialog>
  );
};
