import { Fragment, type ReactNode, useDeferredValue, useEffect, useMemo, useState } from 'react';
import { CopyButton } from '../../design/Copy.tsx';
import { Scroller } from '../../design/Scroller.tsx';
import { useTexts } from '../../i18n/locale.ts';
import texts from '../texts.json' with { type: 'json' };
import type { Piece } from './highlight.ts';
import css from './Markdown.module.css';

/** Longer code is not highlighted, which keeps the cost of each update of a growing block low. */
const MOST_LETTERS = 20_000;

type Highlight = typeof import('./highlight.ts').highlight;

let loaded: Highlight | undefined;

/** Undefined until the chunk is loaded; if it cannot be loaded, code stays plain. */
const useHighlight = (): Highlight | undefined => {
  const [highlight, setHighlight] = useState<Highlight | undefined>(() => loaded);
  useEffect(() => {
    if (loaded) return undefined;
    let isWanted = true;
    import('./highlight.ts').then(
      (module) => {
        loaded = module.highlight;
        if (isWanted) setHighlight(() => loaded);
      },
      () => {},
    );
    return () => {
      isWanted = false;
    };
  }, []);
  return highlight;
};

const drawn = (pieces: readonly Piece[]): ReactNode =>
  pieces.map((piece, place) => {
    const key = place;
    return typeof piece === 'string' ? (
      <Fragment key={key}>{piece}</Fragment>
    ) : (
      <span key={key} className={piece.look}>
        {drawn(piece.pieces)}
      </span>
    );
  });

export const Code = ({ language, text }: { language: string; text: string }) => {
  const t = useTexts(texts);
  const highlight = useHighlight();
  const latest = useDeferredValue(text);
  const pieces = useMemo(
    () => (latest.length <= MOST_LETTERS ? highlight?.(language.toLowerCase(), latest) : undefined),
    [highlight, language, latest],
  );
  return (
    <div className={css.code}>
      <div className={css.codeHead}>
        <span>{language || t('code')}</span>
        <CopyButton text={text} label={t('code.copy')} />
      </div>
      <Scroller label={language || t('code')} className={css.codeBody}>
        {/* The text that arrived since the last highlighting is plain. */}
        <pre>{pieces ? [drawn(pieces), text.slice(latest.length)] : text}</pre>
      </Scroller>
    </div>
  );
};
