import { lazy, Suspense, useState } from 'react';
import { Button, IconButton } from '../../design/Button.tsx';
import { SkeletonRows } from '../../design/Notice.tsx';
import { useMedia } from '../../design/use-media.ts';
import { useTexts } from '../../i18n/locale.ts';
import type { SandboxProps } from '../../sandbox/preview.ts';
import css from './AgentEditor.module.css';
import texts from './texts.json' with { type: 'json' };

const Sandbox = lazy(() => import('../../sandbox/Sandbox.tsx'));

/** The preview chat: next to the panels on wide windows, otherwise a sheet that can be opened. */
export const SandboxPlace = (props: SandboxProps) => {
  const t = useTexts(texts);
  const isWide = useMedia('(min-width: 1280px)');
  const [isOpen, open] = useState(false);
  // Once shown, the chat stays mounted, so that the conversation survives closing it.
  const [wasShown, show] = useState(isWide);
  const isShown = isWide || isOpen;
  if (isShown && !wasShown) show(true);
  return (
    <>
      {!isShown && (
        <div className={css.sheetButton}>
          <Button small icon="threads" onClick={() => open(true)}>
            {t('sandbox')}
          </Button>
        </div>
      )}
      <div className={isWide ? css.beside : css.sheet} hidden={!isShown}>
        {!isWide && (
          <span className={css.sheetClose}>
            <IconButton icon="close" label={t('sandbox.close')} onClick={() => open(false)} />
          </span>
        )}
        {wasShown && (
          <Suspense fallback={<SkeletonRows />}>
            <Sandbox {...props} />
          </Suspense>
        )}
      </div>
    </>
  );
};
