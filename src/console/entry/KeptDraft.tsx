import { useEffect, useRef, useState } from 'react';
import { Button } from '../design/Button.tsx';
import { Notice } from '../design/Notice.tsx';
import { Ago } from '../design/Time.tsx';
import { useTexts } from '../i18n/locale.ts';
import { useEntryForm } from './EntryFields.tsx';
import { changedFields } from './entry.ts';
import { type KeptKind, keepDraft, readKept } from './kept-draft.ts';
import texts from './texts.json' with { type: 'json' };

/** A draft is kept after typing has paused for this long. */
const QUIET_MS = 300;

/** Keeps the draft of the form until it is saved or discarded. */
const useKeeping = (id: string | undefined, kind: KeptKind): void => {
  const { draft, isDirty } = useEntryForm();
  useEffect(() => {
    // The offered draft must not be overwritten before the user decides or types something else.
    if (!isDirty) return undefined;
    const timer = setTimeout(() => keepDraft(id, draft, kind), QUIET_MS);
    return () => clearTimeout(timer);
  }, [id, draft, isDirty, kind]);
  // On leaving the form the draft was saved or discarded, so it need not be kept.
  const own = useRef(id);
  own.current = id;
  const wasDirty = useRef(false);
  useEffect(() => {
    if (wasDirty.current && !isDirty) keepDraft(id, undefined, kind);
    wasDirty.current = isDirty;
  }, [id, isDirty, kind]);
  useEffect(() => () => keepDraft(own.current, undefined, kind), [kind]);
};

/** Offers the draft that was typed before the page was reloaded, and keeps the current one. */
export const KeptDraft = ({ kind }: { kind: KeptKind }) => {
  const t = useTexts(texts);
  const { opened, isDirty, read, reset } = useEntryForm();
  const { isNew, start } = opened;
  const id = isNew ? undefined : start.id;
  const [offer, setOffer] = useState(() => {
    const kept = readKept(id, kind);
    return kept?.kept !== undefined && changedFields(start, kept.spec, read).length > 0 ? kept : undefined;
  });
  useKeeping(id, kind);
  if (!offer || isDirty) return null;
  const forget = (): void => {
    keepDraft(id, undefined, kind);
    setOffer(undefined);
  };
  const take = (): void => {
    reset(offer.spec);
    forget();
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
          <Button small tone="quiet" onClick={forget}>
            {t('kept.drop')}
          </Button>
        </>
      }
    >
      <Ago at={offer.kept} />
    </Notice>
  );
};
