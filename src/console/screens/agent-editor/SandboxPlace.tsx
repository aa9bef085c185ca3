import { lazy, Suspense, useState, useSyncExternalStore } from 'react';
import { Button, IconButton } from '../../design/Button.tsx';
import { SkeletonRows } from '../../design/Notice.tsx';
import { useTexts } from '../../i18n/locale.ts';
import css from './AgentEditor.module.css';
import type { SandboxProps } from './panel.ts';
import { texts } from './texts.ts';

/** The preview chat: beside the panels where there is room, else a sheet that is opened when it is wanted. */

const Sandbox = lazy(() => import('../../sandbox/Sandbox.tsx'));

const wide = window.matchMedia('(min-width: 1280px)');

const useIsWide = (): boolean =>
  useSyncExternalStore(
    (changed) => {
      wide.addEventListener('change', changed);
      return () => wide.removeEventListener('change', changed);
    },
    () => wide.matches,
  );

export const SandboxPlace = (props: SandboxProps) => {
  const t = useTexts(texts);
  const isWide = useIsWide();
  const [isOpen, open] = useState(false);
  // What was said stays, whether it can be seen or not.
  const [wasShown, show] = useState(isWide);
  if (isWide && !wasShown) show(true);
  const isShown = isWide || isOpen;
  return (
    <>
      {!isWide && !isOpen && (
        <div className={css.sheetButton}>
          <Button
            small
            icon="threads"
            onClick={() => {
              open(true);
              show(true);
            }}
          >
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
