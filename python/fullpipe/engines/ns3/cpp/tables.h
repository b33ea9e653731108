// The tables of a run: one file of tab-separated values per table, with the columns of the schema.
#pragma once

#include "flow.h"
#include "network.h"
#include "input.h"

#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fullpipe
{

class Tables
{
  public:
    Tables(const Input& input,
           const std::string& folder,
           std::vector<std::unique_ptr<Traffic>>& flows,
           std::vector<std::unique_ptr<Hop>>& hops);

    void Sample(int64_t now);
    void OnWarmup();
    void Finish();

  private:
    std::ofstream Open(const std::string& name, const std::string& columns) const;
    void SampleHop(int64_t now, size_t number);
    void Observe(int64_t now, size_t flow, bool always);
    void WriteFlows();
    void WriteLinks();

    const Input& m_input;
    std::string m_folder;
    std::vector<std::unique_ptr<Traffic>>& m_flows;
    std::vector<std::unique_ptr<Hop>>& m_hops;
    std::ofstream m_series, m_links, m_variables;
    std::vector<HopCounters> m_sampled, m_begin;
    std::vector<std::map<std::string, std::string>> m_states; // states of the variables of each flow
};

} // namespace fullpipe
