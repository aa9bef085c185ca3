import { useEffect, useRef, useState } from 'react';
import { Button } from '../../design/Button.tsx';
import { Notice } from '../../design/Notice.tsx';
import { Ago } from '../../design/Time.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { changedFields } from './draft.ts';
import type { Editing } from './editing.ts';
import { type KeptDraft, type KeptKind, keepDraft, readKept } from './kept-draft.ts';
import type { Draft } from './panel.ts';
import { texts } from './texts.ts';

/** So long nothing has to be typed until it is kept. */
const QUIET_MS = 300;

export type Kept = { offer: KeptDraft | undefined; forget: () => void };

/** What was typed before the page was loaded again, and the keeping of what is typed now. */
export const useKept = (
  editing: Pick<Editing, 'isNew' | 'start' | 'draft'>,
  dirty: boolean,
  kind: KeptKind = 'agent',
): Kept => {
  const id = editing.isNew ? undefined : editing.start.id;
  const [offer, setOffer] = useState(() => {
    const kept = readKept(id, kind);
    return kept?.kept !== undefined && changedFields(editing.start, kept.spec).length > 0 ? kept : undefined;
  });
  const { draft } = editing;
  useEffect(() => {
    // What is offered is not lost before somebody has answered, or typed something else.
    if (!dirty) return undefined;
    const timer = setTimeout(() => keepDraft(id, draft, kind), QUIET_MS);
    return () => clearTimeout(timer);
  }, [id, draft, dirty, kind]);
  // Whoever leaves has saved it, or said that it is not wanted.
  const own = useRef(id);
  own.current = id;
  const wasDirty = useRef(false);
  useEffect(() => {
    if (wasDirty.current && !dirty) keepDraft(id, undefined, kind);
    wasDirty.current = dirty;
  }, [id, dirty, kind]);
  useEffect(() => () => keepDraft(own.current, undefined, kind), [kind]);
  return {
    offer: dirty ? undefined : offer,
    forget: () => {
      keepDraft(id, undefined, kind);
      setOffer(undefined);
    },
  };
};

export const KeptOffer = ({ kept, onTake }: { kept: Kept; onTake: (draft: Draft) => void }) => {
  const t = useTexts(texts);
  const { offer } = kept;
  if (!offer) return null;
  const take = (): void => {
    onTake(offer.spec);
    kept.forget();
  };
  return (
    <Notice
      icon="history"
      title={t('kept.title')}
      actions={
        <>
          <Button small onClick={take}>
            {t('kept.take')}
          </Button>
          <Button small tone="quiet" onClick={kept.forget}>
            {t('kept.drop')}
          </Button>
        </>
      }
    >
      <Ago at={offer.kept} />
    </Notice>
  );
};
