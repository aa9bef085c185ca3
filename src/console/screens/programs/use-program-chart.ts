import { useState } from 'react';
import { useResource } from '../../data/queries.ts';
import { DRAWING_MS, programChart } from './programs.ts';

/** A machine of another program: asked for again while it is being laid out, and not any more once it is. */
export const useProgramChart = (program: string, machine: string) => {
  const [isDrawn, setDrawn] = useState(false);
  const chart = useResource(programChart(program, machine, isDrawn ? undefined : DRAWING_MS));
  const isSettled = chart.data !== undefined && chart.data.chart !== 'drawing';
  if (isSettled !== isDrawn && chart.data !== undefined) setDrawn(isSettled);
  return chart;
};
