// Captured packets by time, from the columns that `lanes.py` sends.
const PART = 2 ** 20;

export class Packets {
  constructor(columns) {
    Object.assign(this, columns);
    this.length = columns.second?.length || 0;
    this.times = new Float64Array(this.length);
    this.longest = 0; // longest time that a packet takes from one capture point to the next
    for (let n = 0; n < this.length; n += 1) {
      this.times[n] = columns.second[n] + columns.fraction[n];
      if (columns.takes_s[n] > this.longest) this.longest = columns.takes_s[n];
    }
  }

  // Index of the first packet that is not before a time.
  place(time) {
    let low = 0, high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Index of the nearest lost packet after (`by` = 1) or before (`by` = -1) a packet; -1 if there is none.
  lost(from, by) {
    for (let n = from + by; n >= 0 && n < this.length; n += by) if (this.is_lost[n]) return n;
    return -1;
  }

  byte(n) {
    return this.high[n] * PART + this.low[n];
  }
}
