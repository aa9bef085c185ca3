import { useEffect, useRef, useState } from 'react';
import type { Draft } from '../../data/spec.ts';
import { Button } from '../../design/Button.tsx';
import { Notice } from '../../design/Notice.tsx';
import { Ago } from '../../design/Time.tsx';
import type { Opened } from '../../entry/entry.ts';
import { useTexts } from '../../i18n/locale.ts';
import { changedFields } from './draft.ts';
import { type KeptDraft, type KeptKind, keepDraft, readKept } from './kept-draft.ts';
import texts from './texts.json' with { type: 'json' };

/** A draft is kept after typing has paused for this long. */
const QUIET_MS = 300;

export type Kept = { offer: KeptDraft | undefined; forget: () => void };

/** Offers the draft that was typed before the page was reloaded, and keeps the current one. */
export const useKept = (
  editing: Pick<Opened, 'isNew' | 'start'> & { draft: Draft },
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
    // The offered draft must not be overwritten before the user decides or types something else.
    if (!dirty) return undefined;
    const timer = setTimeout(() => keepDraft(id, draft, kind), QUIET_MS);
    return () => clearTimeout(timer);
  }, [id, draft, dirty, kind]);
  // On leaving the editor the draft was saved or discarded, so it need not be kept.
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
